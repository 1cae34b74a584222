/**
 * Circle's CCTP V2 as a bridge for native USDC: burned on the source, attested by Circle, minted on the
 * destination. A fast transfer is attested before the burn is final, for a fee; a standard one after that.
 */

import { decodeEventLog, encodeEventTopics, encodeFunctionData } from 'viem';
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
import type { ChainPort, Receipt } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import { moverCall } from '../../../settlement/lp-account.ts';
import { readContract, tryReadContract } from '../../evm/chain/read-contract.ts';
import type { AttestationService, AttestedMessage } from './attestation-service.ts';
import { messageTransmitterAbi, tokenMessengerAbi, tokenMinterAbi } from './contracts.ts';
import { type BurnMessage, decodeBurnMessage, differences, spliceBody } from './message.ts';

export interface CctpPlace {
  chain: ChainPort;
  domain: number;
  token: Address;
  messenger: Address;
  transmitter: Address;
  /** The usual time until a burn here is attested. `fast` null: Circle offers no fast transfers from here. */
  seconds: { fast: number | null; standard: number };
}

export interface CctpOptions {
  places: readonly CctpPlace[];
  /** Fast transfers where they are offered for at most `maxFeeBps`, else standard ones. */
  fast: boolean;
  maxFeeBps: number;
}

interface CctpDeps {
  attestations: AttestationService;
  clock: Clock;
}

const ID = 'cctp';
const FAST = 1_000;
const STANDARD = 2_000;
/** Thousandths of a basis point in one. */
const MILLI_BPS = 10_000_000n;
/** The service's fee may rise until the burn; with too low a maximum the transfer becomes a slow one. */
const FEE_BUFFER_PERCENT = 10n;
/** The nonce of a message that expired is asked for again so often. */
const ATTEST_AGAIN_MS = 60_000;
/** Clocks of two chains differ. */
const CLOCK_SLACK_SECONDS = 600;

export function createCctpBridge(
  { attestations, clock }: CctpDeps,
  { places, fast, maxFeeBps }: CctpOptions,
): Bridge {
  const byChain = new Map(places.map((place) => [place.chain.chain.id, place]));
  const askedAgainMs = new Map<Bytes32, number>();

  /** The place of a side, if the token there is the one that CCTP carries. */
  const placeOf = ({ chainId, token }: { chainId: number; token: Address }): CctpPlace | undefined => {
    const place = byChain.get(chainId);
    return place?.token === token ? place : undefined;
  };

  function endsOf({ from, to }: BridgeMove): { source: CctpPlace; destination: CctpPlace } {
    const [source, destination] = [placeOf(from), placeOf(to)];
    if (!source || !destination || source === destination) throw new NotServed();
    return { source, destination };
  }

  async function estimate(move: BridgeMove): Promise<BridgeEstimate | BridgeRefusal> {
    const { source, destination } = endsOf(move);
    const wantsFast = fast && source.seconds.fast !== null;
    const [limit, leastRate, rates, allowance] = await Promise.all([
      burnLimit(source),
      leastFeeRate(source),
      attestations.fees(source.domain, destination.domain),
      wantsFast ? attestations.fastAllowance() : undefined,
    ]);
    if (limit === 0n)
      return unavailable(
        'The token messenger burns no such token: check the addresses under networks, cctp.',
      );
    if (move.amount > limit)
      return {
        refused: 'too_much',
        maxAmount: limit,
        detail: `One burn carries at most ${limit} base units.`,
      };
    const modes: readonly { mode: string; finality: number; seconds: number | null }[] = [
      // Beyond the allowance a fast transfer would wait as long as a standard one.
      ...(wantsFast && (allowance === undefined || move.amount <= allowance)
        ? [{ mode: 'fast', finality: FAST, seconds: source.seconds.fast }]
        : []),
      { mode: 'standard', finality: STANDARD, seconds: source.seconds.standard },
    ];
    const offers = modes.flatMap(({ mode, finality, seconds }) => {
      const rate = rates.get(finality);
      return rate === undefined || seconds === null ? [] : [{ mode, seconds, rate: max(rate, leastRate) }];
    });
    const offer = offers.find(({ rate }) => rate <= BigInt(Math.round(maxFeeBps * 1_000)));
    if (offer === undefined)
      return unavailable(
        offers.length === 0
          ? 'Circle offers no transfers between these chains now.'
          : `Circle asks for a fee of ${offers.map(({ rate }) => Number(rate) / 1_000).join(' or ')} bps; maxFeeBps of bridges.cctp allows ${maxFeeBps}.`,
      );
    const maxFee = divideUp(move.amount * offer.rate * (100n + FEE_BUFFER_PERCENT), MILLI_BPS * 100n);
    if (move.amount <= maxFee || move.amount <= 0n)
      return {
        refused: 'too_little',
        // The fee of two base units is one.
        minAmount: offer.rate === 0n ? 1n : 2n,
        detail: 'The fee would be all of it.',
      };
    return { leastReceived: move.amount - maxFee, seconds: offer.seconds, nativeFee: 0n, mode: offer.mode };
  }

  return {
    id: ID,
    name: 'Circle CCTP',
    serves: ({ from, to }) => from.chainId !== to.chainId && !!placeOf(from) && !!placeOf(to),
    async estimate(move) {
      try {
        return await estimate(move);
      } catch (error) {
        if (error instanceof UpstreamError) return unavailable(error.message);
        throw error;
      }
    },
    send(move, { leastReceived, mode }) {
      const { destination } = endsOf(move);
      return {
        to: move.account,
        data: moverCall.sendByCctp({
          token: move.from.token,
          domain: destination.domain,
          amount: move.amount,
          maxFee: move.amount - leastReceived,
          minFinality: mode === 'fast' ? FAST : STANDARD,
        }),
        value: 0n,
      };
    },
    async sent(move, _, txHash) {
      const { source, destination } = endsOf(move);
      const receipt = await source.chain.receipt(txHash, source.transmitter);
      if (!receipt)
        throw new UpstreamError('No node knows the transaction that sends. It is looked for again.', {
          code: 'transaction_unknown',
          facts: { chain: source.chain.chain.slug, txHash },
        });
      for (const message of sentMessages(receipt)) {
        const burn = decodeBurnMessage(message);
        if (burn && isBurnOf(burn, move, source, destination))
          return {
            bridge: ID,
            move,
            leastReceived: burn.amount - burn.maxFee,
            txHash,
            // Circle finds a transfer by its transaction: the nonce comes later.
            reference: txHash,
            message,
          };
      }
      return undefined;
    },
    async follow(transfer) {
      const { source, destination } = endsOf(transfer.move);
      const burned = decodeBurnMessage(transfer.message);
      if (!burned) throw new InvariantError('The stored message of the transfer is no burn message.');
      const messages = await attestations.messages(source.domain, transfer.txHash);
      const shown = (messages ?? []).flatMap((each) => {
        const attested = each.message && decodeBurnMessage(each.message);
        return attested ? [{ ...each, attested, wrong: differences(burned, attested) }] : [];
      });
      const ours = shown.find(({ wrong }) => wrong.length === 0);
      if (ours?.attestation && ours.message)
        return deliver(transfer, burned, ours.attested, {
          source,
          destination,
          message: ours.message,
          attestation: ours.attestation,
        });
      if (ours === undefined && messages?.length && messages.every(isComplete)) {
        const nearest = shown.toSorted((a, b) => a.wrong.length - b.wrong.length)[0];
        return {
          state: 'stuck',
          detail:
            `Circle attested another message than the one that was burned: it differs in ${nearest?.wrong.join(', ') ?? 'its form'}. ` +
            'Nothing was submitted. Do not deliver it by hand; report the transaction to Circle.',
        };
      }
      return (await missingBurn(transfer, source)) ?? { state: 'waiting', detail: waitingFor(messages) };
    },
  };

  interface Attested {
    source: CctpPlace;
    destination: CctpPlace;
    message: Hex;
    attestation: Hex;
  }

  async function deliver(
    transfer: SentTransfer,
    burned: BurnMessage,
    { nonce, expirationBlock }: BurnMessage,
    { source, destination, message, attestation }: Attested,
  ): Promise<TransferProgress> {
    const { chain, transmitter } = destination;
    const isUsed = () =>
      readContract(chain.read, {
        abi: messageTransmitterAbi,
        address: transmitter,
        functionName: 'usedNonces',
        args: [nonce],
      });
    if ((await isUsed()) !== 0n) return arrival(transfer, burned, nonce, { source, destination });
    const head = chain.head()?.number ?? 0n;
    if (expirationBlock !== 0n && expirationBlock <= head + 1n) return attestAgain(nonce);
    const call = {
      to: transmitter,
      data: encodeFunctionData({
        abi: messageTransmitterAbi,
        functionName: 'receiveMessage',
        args: [message, attestation],
      }),
      value: 0n,
    };
    const trial = await chain.simulate({ from: transfer.move.account, ...call });
    if (trial.ok) return { state: 'deliverable', call };
    if (/nonce already used/i.test(trial.reason))
      return { state: 'waiting', detail: 'It has just been delivered.' };
    if (/expired/i.test(trial.reason)) return attestAgain(nonce);
    if (/paused/i.test(trial.reason))
      return { state: 'waiting', detail: `Circle has paused CCTP on ${chain.chain.slug}.` };
    return {
      state: 'stuck',
      detail:
        `The message transmitter on ${chain.chain.slug} refuses what Circle attested: ${trial.reason}. ` +
        'Nothing was submitted. Report the transaction to Circle.',
    };
  }

  async function arrival(
    transfer: SentTransfer,
    burned: BurnMessage,
    nonce: Bytes32,
    { source, destination }: { source: CctpPlace; destination: CctpPlace },
  ): Promise<TransferProgress> {
    const { chain, transmitter } = destination;
    const [topic] = encodeEventTopics({ abi: messageTransmitterAbi, eventName: 'MessageReceived' });
    const log = await chain.newestLog(transmitter, [topic, null, nonce], await burnedAt(transfer, source));
    // The view reads the latest block of a node; events are read up to the head that is followed.
    if (!log)
      return {
        state: 'waiting',
        detail: `It was delivered; ${chain.chain.slug} does not show the event yet.`,
      };
    const { args } = decodeEventLog({
      abi: messageTransmitterAbi,
      eventName: 'MessageReceived',
      topics: log.topics as [Hex, ...Hex[]],
      data: log.data,
    });
    const received = spliceBody(burned, args.messageBody);
    if (
      !received ||
      BigInt(args.sourceDomain) !== burned.sourceDomain ||
      args.sender !== burned.sender ||
      differences(burned, { ...received, nonce, finality: burned.minFinality }).length > 0
    )
      return {
        state: 'stuck',
        detail: `Circle gave the nonce ${nonce}, under which another message was received. Report the transaction to Circle.`,
      };
    return {
      state: 'arrived',
      received: received.amount - received.fee,
      txHash: log.txHash,
      blockNumber: log.blockNumber,
    };
  }

  async function attestAgain(nonce: Bytes32): Promise<TransferProgress> {
    const nowMs = clock.monotonicMs();
    const askedMs = askedAgainMs.get(nonce);
    let words = 'asked a moment ago';
    if (askedMs === undefined || nowMs - askedMs >= ATTEST_AGAIN_MS) {
      for (const [old, atMs] of askedAgainMs) if (nowMs - atMs >= ATTEST_AGAIN_MS) askedAgainMs.delete(old);
      askedAgainMs.set(nonce, nowMs);
      words = await attestations.attestAgain(nonce);
    }
    return {
      state: 'waiting',
      detail: `The attestation expired before it was delivered. Circle is asked for a new one (${words}).`,
    };
  }
}

const isComplete = ({ status, attestation }: AttestedMessage): boolean =>
  status === 'complete' && attestation !== undefined;

function waitingFor(messages: readonly AttestedMessage[] | undefined): string {
  if (!messages?.length) return 'Circle has not seen the burn yet.';
  const delays = messages.flatMap(({ delay }) => delay ?? []);
  return `Circle waits for the burn to be final${delays.length > 0 ? ` (${delays.join(', ')})` : ''}.`;
}

/** Returns the progress when the burn is not on the source chain any more, or was taken back. */
async function missingBurn(
  { txHash, message }: SentTransfer,
  { chain, transmitter }: CctpPlace,
): Promise<TransferProgress | undefined> {
  const receipt = await chain.receipt(txHash, transmitter);
  const { slug } = chain.chain;
  if (!receipt)
    return {
      state: 'waiting',
      detail: `No node of ${slug} shows the burn now. A reorganisation may have taken it back; it may be mined again.`,
    };
  if (sentMessages(receipt).includes(message)) return undefined;
  return {
    state: 'stuck',
    detail:
      `A reorganisation of ${slug} took the burn back, and the transaction burned nothing when it was mined again: ` +
      'the money is still in the account there. Start another transfer.',
  };
}

async function burnedAt({ txHash }: SentTransfer, { chain }: CctpPlace): Promise<number> {
  const receipt = await chain.receipt(txHash);
  const block = receipt && (await chain.block(receipt.blockNumber));
  return block ? block.timestamp - CLOCK_SLACK_SECONDS : 0;
}

function sentMessages({ status, logs = [] }: Receipt): Hex[] {
  if (status !== 'success') return [];
  const [sentTopic] = encodeEventTopics({ abi: messageTransmitterAbi, eventName: 'MessageSent' });
  return logs
    .filter(({ topics }) => topics[0] === sentTopic)
    .map(
      ({ topics, data }) =>
        decodeEventLog({
          abi: messageTransmitterAbi,
          eventName: 'MessageSent',
          topics: topics as [Hex, ...Hex[]],
          data,
        }).args.message,
    );
}

/** Compares everything but fee and finality: the estimate may have been renewed since the burn was sent. */
const isBurnOf = (
  burn: BurnMessage,
  { account, amount }: BridgeMove,
  source: CctpPlace,
  destination: CctpPlace,
): boolean =>
  burn.sourceDomain === BigInt(source.domain) &&
  burn.destinationDomain === BigInt(destination.domain) &&
  burn.sender === addressToBytes32(source.messenger) &&
  burn.recipient === addressToBytes32(destination.messenger) &&
  burn.destinationCaller === ZERO_BYTES32 &&
  burn.burnToken === addressToBytes32(source.token) &&
  burn.mintRecipient === addressToBytes32(account) &&
  burn.messageSender === addressToBytes32(account) &&
  burn.amount === amount;

/** Reads how many base units one burn may carry; 0n: the token is not burned there. */
export async function burnLimit({ chain, messenger, token }: CctpPlace): Promise<bigint> {
  const minter = await readContract(chain.read, {
    abi: tokenMessengerAbi,
    address: messenger,
    functionName: 'localMinter',
  });
  return readContract(chain.read, {
    abi: tokenMinterAbi,
    address: minter,
    functionName: 'burnLimitsPerMessage',
    args: [token],
  });
}

/** Thousandths of a basis point. The first release of the contracts has no such fee. */
const leastFeeRate = async ({ chain, messenger }: CctpPlace): Promise<bigint> =>
  (await tryReadContract(chain.read, {
    abi: tokenMessengerAbi,
    address: messenger,
    functionName: 'minFee',
  })) ?? 0n;

const unavailable = (detail: string): BridgeRefusal => ({ refused: 'unavailable', detail });
const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

class NotServed extends RequestError {
  constructor() {
    super('CCTP does not carry this token between these chains. Ask serves first.', { code: 'bad_request' });
  }
}
