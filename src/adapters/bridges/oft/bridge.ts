/**
 * An OFT of LayerZero V2 as a bridge, such as USDT0: burned or locked on the source, verified by the OFT's
 * verifiers, minted or unlocked on the destination. LayerZero's executor delivers, as a rule; what it leaves
 * behind, anyone delivers.
 */

import { decodeErrorResult, decodeEventLog, encodeEventTopics, encodeFunctionData } from 'viem';
import { divUp, formatUnits, max, min } from '../../../domain/amount.ts';
import { InvariantError, RequestError, UpstreamError } from '../../../domain/errors.ts';
import { type Address, addressToBytes32, type Bytes32, type Hex, ZERO_BYTES32 } from '../../../domain/hex.ts';
import type {
  Bridge,
  BridgeEstimate,
  BridgeMove,
  BridgeRefusal,
  SentTransfer,
  TransferProgress,
} from '../../../ports/bridge.ts';
import type { Receipt } from '../../../ports/chain.ts';
import { readContract, tryReadContract } from '../../evm/chain/read-contract.ts';
import { lzEndpointAbi, oftAbi, oftSenderAbi } from './contracts.ts';
import { decodePacket, type OftPacket, payloadHash, transferMessage } from './packet.ts';
import { type OftPlace, oftProblems } from './place.ts';

export interface OftOptions {
  /** The asset's name, such as `USDT0`; the bridge's id is made from it. */
  asset: string;
  places: readonly OftPlace[];
  /** Decimals of the amounts in messages: the OFT has the same on every chain. */
  sharedDecimals: number;
  /** Basis points of the amount that the OFT may take as a fee. */
  maxFeeBps: number;
  /** How long after `seconds` the executor may still deliver before another address does. */
  patienceSeconds: number;
}

type Ends = { source: OftPlace; destination: OftPlace };

const MOST_SHARED = 2n ** 64n - 1n;
/** The owner of the OFT has taken a verification back. */
const NIL_HASH: Bytes32 = `0x${'ff'.repeat(32)}`;
/** Clocks of two chains differ. */
const CLOCK_SLACK_SECONDS = 600;

export function createOftBridge({
  asset,
  places,
  sharedDecimals,
  maxFeeBps,
  patienceSeconds,
}: OftOptions): Bridge {
  const id = `oft-${asset.toLowerCase()}`;
  const byChain = new Map(places.map((place) => [place.chain.chain.id, place]));

  const placeOf = ({ chainId, token }: { chainId: number; token: Address }): OftPlace | undefined => {
    const place = byChain.get(chainId);
    return place?.token === token ? place : undefined;
  };

  function endsOf({ from, to }: BridgeMove): Ends {
    const [source, destination] = [placeOf(from), placeOf(to)];
    if (!source || !destination || source === destination) throw new NotServed(asset);
    return { source, destination };
  }

  /** Base units of the token that are one unit of the OFT's messages: the smallest amount that travels. */
  const unitOf = ({ decimals }: OftPlace): bigint => 10n ** BigInt(decimals - sharedDecimals);
  const toDestination = (amount: bigint, { source, destination }: Ends): bigint =>
    (amount / unitOf(source)) * unitOf(destination);

  async function estimate(move: BridgeMove): Promise<BridgeEstimate | BridgeRefusal> {
    const ends = endsOf(move);
    const { source, destination } = ends;
    const wrong = await misconfiguration(ends);
    if (wrong !== undefined) return unavailable(wrong);
    const unit = unitOf(source);
    // An OFT may refuse to quote an amount outside its limits, and still say what they are.
    const asked = await quoteAmounts(source, paramsOf(move, destination));
    const shown = asked ?? (await quoteAmounts(source, { ...paramsOf(move, destination), amountLD: unit }));
    if (shown === undefined) return unavailable(`The OFT on ${source.chain.chain.slug} gives no quote now.`);
    const [limit, , receipt] = shown;
    const least = max(divUp(limit.minAmountLD, unit) * unit, unit);
    const most = min(limit.maxAmountLD / unit, MOST_SHARED) * unit;
    if (most < least) return unavailable(`The OFT on ${source.chain.chain.slug} has no capacity now.`);
    if (move.amount < least)
      return { refused: 'too_little', minAmount: least, detail: `It carries at least ${least} base units.` };
    if (move.amount > most)
      return {
        refused: 'too_much',
        maxAmount: most,
        detail: `It carries at most ${most} base units at once.`,
      };
    const whole = move.amount - (move.amount % unit);
    if (whole !== move.amount)
      return {
        refused: 'too_much',
        maxAmount: whole,
        detail: `It carries multiples of ${unit} base units: the token has ${source.decimals} decimals, its messages have ${sharedDecimals}.`,
      };
    if (asked === undefined)
      return unavailable(`The OFT on ${source.chain.chain.slug} gives no quote for this amount now.`);
    if (receipt.amountSentLD < move.amount)
      return {
        refused: 'too_much',
        maxAmount: receipt.amountSentLD,
        detail: `The OFT on ${source.chain.chain.slug} would send only ${receipt.amountSentLD} base units of it.`,
      };
    if (receipt.amountReceivedLD === 0n)
      return { refused: 'too_little', minAmount: 2n * least, detail: 'The fee would be all of it.' };
    const fee = move.amount - receipt.amountReceivedLD;
    if (fee * 10_000_000n > move.amount * BigInt(Math.round(maxFeeBps * 1_000)))
      return unavailable(
        `The OFT takes a fee of ${Number((fee * 1_000_000n) / move.amount) / 100} bps; maxFeeBps of bridges.oft allows ${maxFeeBps}.`,
      );
    return priced(move, ends, receipt.amountReceivedLD);
  }

  async function priced(
    move: BridgeMove,
    ends: Ends,
    received: bigint,
  ): Promise<BridgeEstimate | BridgeRefusal> {
    const { source, destination } = ends;
    const fee = await tryReadContract(source.chain.read, {
      abi: oftAbi,
      address: source.oft,
      functionName: 'quoteSend',
      args: [{ ...paramsOf(move, destination), minAmountLD: received }, false],
    });
    if (fee === undefined)
      return unavailable(
        `LayerZero quotes no message from ${source.chain.chain.slug} to ${destination.chain.chain.slug} now.`,
      );
    if (fee.nativeFee > source.maxNativeFee)
      return unavailable(
        `LayerZero asks for ${formatUnits(fee.nativeFee, 18)} of native currency on ${source.chain.chain.slug}; maxNativeFee of bridges.oft allows ${formatUnits(source.maxNativeFee, 18)}.`,
      );
    return {
      leastReceived: toDestination(received, ends),
      seconds: source.seconds,
      nativeFee: fee.nativeFee,
    };
  }

  /** Explains why money must not be sent between these contracts, as the chains show them. */
  async function misconfiguration({ source, destination }: Ends): Promise<string | undefined> {
    for (const [here, there] of [
      [source, destination],
      [destination, source],
    ] as const) {
      const [problem] = await oftProblems(here, [there], sharedDecimals);
      if (problem !== undefined)
        return `bridges.oft is wrong about ${asset} on ${here.chain.chain.slug}: ${problem}.`;
    }
    return undefined;
  }

  return {
    id,
    name: `LayerZero OFT ${asset}`,
    serves: ({ from, to }) => from.chainId !== to.chainId && !!placeOf(from) && !!placeOf(to),
    async estimate(move) {
      try {
        return await estimate(move);
      } catch (error) {
        if (error instanceof UpstreamError) return unavailable(error.message);
        throw error;
      }
    },
    send(move, { leastReceived, nativeFee }) {
      const { source, destination } = endsOf(move);
      const least = divUp(leastReceived, unitOf(destination)) * unitOf(source);
      return {
        to: move.account,
        data: encodeFunctionData({
          abi: oftSenderAbi,
          functionName: 'sendByOft',
          args: [source.oft, destination.eid, move.amount, least],
        }),
        value: nativeFee,
      };
    },
    async sent(move, _, txHash) {
      const ends = endsOf(move);
      const found = await findSent(move, ends, txHash);
      if (found === 'unknown')
        throw new UpstreamError('No node knows the transaction that sends. It is looked for again.', {
          code: 'transaction_unknown',
          facts: { chain: ends.source.chain.chain.slug, txHash },
        });
      return (
        found && {
          bridge: id,
          move,
          leastReceived: toDestination(found.received, ends),
          txHash,
          reference: found.packet.guid,
          message: found.encoded,
        }
      );
    },
    async follow(transfer) {
      const ends = endsOf(transfer.move);
      const stored = decodePacket(transfer.message);
      if (!stored) throw new InvariantError('The stored message of the transfer is no LayerZero packet.');
      // A reorganisation may have mined the transaction again, as another packet.
      const found = await findSent(transfer.move, ends, transfer.txHash);
      if (found === undefined)
        return {
          state: 'stuck',
          detail:
            `A reorganisation of ${ends.source.chain.chain.slug} took the send back, and the transaction sent ` +
            'nothing when it was mined again: the money is still in the account there. Start another transfer.',
        };
      const packet = found === 'unknown' ? stored : found.packet;
      return followPacket(transfer, ends, packet, found === 'unknown' ? undefined : found.receipt);
    },
  };

  /** Finds what the transaction has sent for this move. `unknown`: no node shows the transaction. */
  async function findSent({ account, amount }: BridgeMove, ends: Ends, txHash: Hex) {
    const { source, destination } = ends;
    const [receipt, withPackets] = await Promise.all([
      source.chain.receipt(txHash, source.oft),
      source.chain.receipt(txHash, source.endpoint),
    ]);
    if (!receipt || !withPackets) return 'unknown';
    if (receipt.status !== 'success') return undefined;
    const sends = sentEvents(receipt).filter(
      ({ fromAddress, dstEid, amountSentLD }) =>
        fromAddress.toLowerCase() === account && dstEid === destination.eid && amountSentLD === amount,
    );
    for (const { guid, amountReceivedLD } of sends) {
      const message = transferMessage(account, amountReceivedLD / unitOf(source));
      for (const encoded of packetsOf(withPackets)) {
        const packet = decodePacket(encoded);
        if (
          packet?.guid === guid &&
          packet.message === message &&
          packet.receiver === addressToBytes32(destination.oft)
        )
          return { packet, encoded, received: amountReceivedLD, receipt };
      }
    }
    return undefined;
  }

  async function followPacket(
    { move }: SentTransfer,
    ends: Ends,
    packet: OftPacket,
    receipt: Receipt | undefined,
  ): Promise<TransferProgress> {
    const { source, destination } = ends;
    const { chain } = destination;
    const { slug } = chain.chain;
    const { hash, isDone } = await inboxOf(destination, packet);
    const block = receipt && (await source.chain.block(receipt.blockNumber));
    if (hash === ZERO_BYTES32) {
      if (isDone) return arrival(move, ends, packet, block?.timestamp ?? 0);
      return {
        state: 'waiting',
        detail: receipt
          ? `The OFT's verifiers have not verified the packet on ${slug} yet.`
          : `No node of ${source.chain.chain.slug} shows the send now. A reorganisation may have taken it back; it may be mined again.`,
      };
    }
    if (hash === NIL_HASH)
      return {
        state: 'stuck',
        detail: `The owner of the OFT on ${slug} took the verification of the packet back. Ask the issuer of ${asset}, and name the packet ${packet.guid}.`,
      };
    if (hash !== payloadHash(packet))
      return {
        state: 'stuck',
        detail: `The verifiers on ${slug} verified another packet than the one that was sent. Nothing was submitted. Report the packet ${packet.guid} to the issuer of ${asset}.`,
      };
    const headTime = chain.head()?.timestamp ?? 0;
    if (block && headTime < block.timestamp + source.seconds + patienceSeconds)
      return { state: 'waiting', detail: `It is verified on ${slug}. LayerZero's executor delivers it.` };
    return deliverable(move, destination, packet);
  }

  async function deliverable(
    { account }: BridgeMove,
    { chain, endpoint, oft }: OftPlace,
    { guid, message, srcEid, sender, nonce }: OftPacket,
  ): Promise<TransferProgress> {
    const call = {
      to: endpoint,
      data: encodeFunctionData({
        abi: lzEndpointAbi,
        functionName: 'lzReceive',
        args: [{ srcEid, sender, nonce }, oft, guid, message, '0x'],
      }),
      value: 0n,
    };
    const trial = await chain.simulate({ from: account, ...call });
    if (trial.ok) return { state: 'deliverable', call };
    const { slug } = chain.chain;
    switch (errorOf(trial.data)) {
      case 'LZ_PayloadHashNotFound':
        return { state: 'waiting', detail: 'It has just been delivered.' };
      case 'LZ_InvalidNonce':
        return { state: 'waiting', detail: `It waits for an earlier packet of the OFT to ${slug}.` };
      default:
        return {
          state: 'stuck',
          detail:
            `The OFT on ${slug} refuses the delivery: ${trial.reason}. The packet stays verified, and anyone delivers ` +
            `it once the OFT takes it. Ask the issuer of ${asset}, and name the packet ${guid}.`,
        };
    }
  }

  async function arrival(
    { account }: BridgeMove,
    { source, destination }: Ends,
    packet: OftPacket,
    sentAt: number,
  ): Promise<TransferProgress> {
    const { guid } = packet;
    const { chain, oft } = destination;
    const at = chain.head()?.number;
    const [topic] = encodeEventTopics({ abi: oftAbi, eventName: 'OFTReceived' });
    const log = await chain.newestLog(oft, [topic, guid], max0(sentAt - CLOCK_SLACK_SECONDS));
    if (!log) {
      // Events are read up to the head that is followed; the endpoint may have been read at a later block.
      const { isDone } = await inboxOf(destination, packet, at);
      if (!isDone)
        return {
          state: 'waiting',
          detail: `It was delivered; ${chain.chain.slug} does not show the event yet.`,
        };
      return {
        state: 'stuck',
        detail:
          `The endpoint on ${chain.chain.slug} has no packet ${guid} any more, and the OFT shows no receipt of it: ` +
          `its owner dropped the packet, or the nodes leave out events. Ask the issuer of ${asset}.`,
      };
    }
    const { args } = decodeEventLog({
      abi: oftAbi,
      eventName: 'OFTReceived',
      topics: log.topics as [Hex, ...Hex[]],
      data: log.data,
    });
    if (args.toAddress.toLowerCase() !== account || args.srcEid !== source.eid)
      return {
        state: 'stuck',
        detail: `The OFT on ${chain.chain.slug} gave the packet ${guid} to ${args.toAddress}. Report it to the issuer of ${asset}.`,
      };
    return {
      state: 'arrived',
      received: args.amountReceivedLD,
      txHash: log.txHash,
      blockNumber: log.blockNumber,
    };
  }
}

/**
 * Reads the verified hash of a packet at its destination. `isDone`: delivered, or dropped by the OFT's owner.
 */
async function inboxOf(
  { chain, endpoint, oft }: OftPlace,
  { srcEid, sender, nonce }: OftPacket,
  at?: bigint,
): Promise<{ hash: Bytes32; isDone: boolean }> {
  const view = { abi: lzEndpointAbi, address: endpoint } as const;
  const path = [oft, srcEid, sender] as const;
  const [hash, lazyNonce] = await Promise.all([
    readContract(chain.read, { ...view, functionName: 'inboundPayloadHash', args: [...path, nonce] }, at),
    readContract(chain.read, { ...view, functionName: 'lazyInboundNonce', args: path }, at),
  ]);
  return { hash, isDone: hash === ZERO_BYTES32 && nonce <= lazyNonce };
}

interface SendParam {
  dstEid: number;
  to: Bytes32;
  amountLD: bigint;
  minAmountLD: bigint;
  extraOptions: Hex;
  composeMsg: Hex;
  oftCmd: Hex;
}

/** The parameters name no options: the OFT's owner sets the gas of a delivery for everybody. */
const paramsOf = ({ account, amount }: BridgeMove, { eid }: OftPlace): SendParam => ({
  ...{ dstEid: eid, to: addressToBytes32(account), amountLD: amount, minAmountLD: 0n },
  ...{ extraOptions: '0x', composeMsg: '0x', oftCmd: '0x' },
});

const quoteAmounts = ({ chain, oft }: OftPlace, params: SendParam) =>
  tryReadContract(chain.read, { abi: oftAbi, address: oft, functionName: 'quoteOFT', args: [params] });

function sentEvents({ logs = [] }: Receipt) {
  const [topic] = encodeEventTopics({ abi: oftAbi, eventName: 'OFTSent' });
  return logs
    .filter(({ topics }) => topics[0] === topic)
    .map(
      ({ topics, data }) =>
        decodeEventLog({ abi: oftAbi, eventName: 'OFTSent', topics: topics as [Hex, ...Hex[]], data }).args,
    );
}

function packetsOf({ logs = [] }: Receipt): Hex[] {
  const [topic] = encodeEventTopics({ abi: lzEndpointAbi, eventName: 'PacketSent' });
  return logs
    .filter(({ topics }) => topics[0] === topic)
    .map(
      ({ topics, data }) =>
        decodeEventLog({
          abi: lzEndpointAbi,
          eventName: 'PacketSent',
          topics: topics as [Hex, ...Hex[]],
          data,
        }).args.encodedPayload,
    );
}

function errorOf(data: Hex): string | undefined {
  try {
    return decodeErrorResult({ abi: lzEndpointAbi, data }).errorName;
  } catch {
    return undefined;
  }
}

const unavailable = (detail: string): BridgeRefusal => ({ refused: 'unavailable', detail });
const max0 = (seconds: number): number => Math.max(0, seconds);

class NotServed extends RequestError {
  constructor(asset: string) {
    super(`The OFT ${asset} does not carry this token between these chains. Ask serves first.`, {
      code: 'bad_request',
    });
  }
}
