/** Follows a packet from its send to its delivery, and delivers what LayerZero's executor leaves behind. */

import { decodeErrorResult, encodeFunctionData } from 'viem';
import { InvariantError } from '../../../domain/errors.ts';
import { type Bytes32, type Hex, ZERO_BYTES32 } from '../../../domain/hex.ts';
import type { BridgeMove, SentTransfer, TransferProgress } from '../../../ports/bridge.ts';
import type { Receipt } from '../../../ports/chain.ts';
import { argsOf, topicOf } from '../../evm/chain/event-logs.ts';
import { readContract } from '../../evm/chain/read-contract.ts';
import { CLOCK_SLACK_SECONDS, type Ends, stuck, waiting } from '../message-bridge.ts';
import { lzEndpointAbi, oftAbi } from './contracts.ts';
import { decodePacket, type OftPacket, payloadHash } from './packet.ts';
import type { OftOptions, OftPlace } from './place.ts';
import { findSent } from './sent.ts';

/** The owner of the OFT has taken a verification back. */
const NIL_HASH: Bytes32 = `0x${'ff'.repeat(32)}`;

export async function followOft(
  options: OftOptions,
  transfer: SentTransfer,
  ends: Ends<OftPlace>,
): Promise<TransferProgress> {
  const stored = decodePacket(transfer.message);
  if (!stored) throw new InvariantError('The stored message of the transfer is no LayerZero packet.');
  // A reorganisation may have mined the transaction again, as another packet.
  const found = await findSent(options, transfer.move, ends, transfer.txHash);
  if (found === undefined)
    return stuck(
      `A reorganisation of ${ends.source.chain.chain.slug} took the send back, and the transaction sent ` +
        'nothing when it was mined again: the money is still in the account there. Start another transfer.',
    );
  const { packet, receipt } = found === 'unknown' ? { packet: stored, receipt: undefined } : found;
  return followPacket(options, transfer.move, ends, packet, receipt);
}

async function followPacket(
  options: OftOptions,
  move: BridgeMove,
  ends: Ends<OftPlace>,
  packet: OftPacket,
  receipt: Receipt | undefined,
): Promise<TransferProgress> {
  const { asset, patienceSeconds } = options;
  const { source, destination } = ends;
  const { chain } = destination;
  const { slug } = chain.chain;
  const { hash, isDone } = await inboxOf(destination, packet);
  const block = receipt && (await source.chain.block(receipt.blockNumber));
  if (hash === ZERO_BYTES32) {
    if (isDone) return arrival(asset, move, ends, packet, block?.timestamp ?? 0);
    return waiting(
      receipt
        ? `The OFT's verifiers have not verified the packet on ${slug} yet.`
        : `No node of ${source.chain.chain.slug} shows the send now. A reorganisation may have taken it back; it may be mined again.`,
    );
  }
  if (hash === NIL_HASH)
    return stuck(
      `The owner of the OFT on ${slug} took the verification of the packet back. Ask the issuer of ${asset}, and name the packet ${packet.guid}.`,
    );
  if (hash !== payloadHash(packet))
    return stuck(
      `The verifiers on ${slug} verified another packet than the one that was sent. Nothing was submitted. Report the packet ${packet.guid} to the issuer of ${asset}.`,
    );
  const headTime = chain.head()?.timestamp ?? 0;
  if (block && headTime < block.timestamp + source.seconds + patienceSeconds)
    return waiting(`It is verified on ${slug}. LayerZero's executor delivers it.`);
  return deliverable(asset, move, destination, packet);
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

async function arrival(
  asset: string,
  { account }: BridgeMove,
  { source, destination }: Ends<OftPlace>,
  packet: OftPacket,
  sentAt: number,
): Promise<TransferProgress> {
  const { guid } = packet;
  const { chain, oft } = destination;
  const { slug } = chain.chain;
  const at = chain.head()?.number;
  const log = await chain.newestLog(
    oft,
    [topicOf(oftAbi, 'OFTReceived'), guid],
    Math.max(0, sentAt - CLOCK_SLACK_SECONDS),
  );
  if (!log) {
    // Events are read up to the head that is followed; the endpoint may have been read at a later block.
    const { isDone } = await inboxOf(destination, packet, at);
    return isDone
      ? stuck(
          `The endpoint on ${slug} has no packet ${guid} any more, and the OFT shows no receipt of it: ` +
            `its owner dropped the packet, or the nodes leave out events. Ask the issuer of ${asset}.`,
        )
      : waiting(`It was delivered; ${slug} does not show the event yet.`);
  }
  const { toAddress, srcEid, amountReceivedLD } = argsOf(log, oftAbi, 'OFTReceived');
  if (toAddress.toLowerCase() !== account || srcEid !== source.eid)
    return stuck(
      `The OFT on ${slug} gave the packet ${guid} to ${toAddress}. Report it to the issuer of ${asset}.`,
    );
  return { state: 'arrived', received: amountReceivedLD, txHash: log.txHash, blockNumber: log.blockNumber };
}

async function deliverable(
  asset: string,
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
      return waiting('It has just been delivered.');
    case 'LZ_InvalidNonce':
      return waiting(`It waits for an earlier packet of the OFT to ${slug}.`);
    default:
      return stuck(
        `The OFT on ${slug} refuses the delivery: ${trial.reason}. The packet stays verified, and anyone delivers ` +
          `it once the OFT takes it. Ask the issuer of ${asset}, and name the packet ${guid}.`,
      );
  }
}

function errorOf(data: Hex): string | undefined {
  try {
    return decodeErrorResult({ abi: lzEndpointAbi, data }).errorName;
  } catch {
    return undefined;
  }
}
