/** Finds the burn that a transaction of the source chain made for a transfer. */

import { addressToBytes32, type Hex, ZERO_BYTES32 } from '../../../domain/hex.ts';
import type { BridgeMove, SentTransfer, TransferProgress } from '../../../ports/bridge.ts';
import type { Receipt } from '../../../ports/chain.ts';
import { eventsOf } from '../../evm/chain/event-logs.ts';
import { CLOCK_SLACK_SECONDS, type Ends, stuck, transactionUnknown, waiting } from '../message-bridge.ts';
import { messageTransmitterAbi } from './contracts.ts';
import { type BurnMessage, decodeBurnMessage } from './message.ts';
import type { CctpPlace } from './place.ts';

/** undefined: the transaction burned nothing for this move. Throws when no node knows it. */
export async function findBurn(
  move: BridgeMove,
  ends: Ends<CctpPlace>,
  txHash: Hex,
): Promise<{ burn: BurnMessage; message: Hex } | undefined> {
  const { chain, transmitter } = ends.source;
  const receipt = await chain.receipt(txHash, transmitter);
  if (!receipt) throw transactionUnknown(chain, txHash);
  for (const message of sentMessages(receipt)) {
    const burn = decodeBurnMessage(message);
    if (burn && isBurnOf(burn, move, ends)) return { burn, message };
  }
  return undefined;
}

const sentMessages = ({ status, logs = [] }: Receipt): Hex[] =>
  status === 'success'
    ? eventsOf(logs, messageTransmitterAbi, 'MessageSent').map(({ message }) => message)
    : [];

/** Compares everything but fee and finality: the estimate may have been renewed since the burn was sent. */
const isBurnOf = (
  burn: BurnMessage,
  { account, amount }: BridgeMove,
  { source, destination }: Ends<CctpPlace>,
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

/** Returns the progress when the burn is not on the source chain any more, or was taken back. */
export async function missingBurn(
  { txHash, message }: SentTransfer,
  { chain, transmitter }: CctpPlace,
): Promise<TransferProgress | undefined> {
  const receipt = await chain.receipt(txHash, transmitter);
  const { slug } = chain.chain;
  if (!receipt)
    return waiting(
      `No node of ${slug} shows the burn now. A reorganisation may have taken it back; it may be mined again.`,
    );
  if (sentMessages(receipt).includes(message)) return undefined;
  return stuck(
    `A reorganisation of ${slug} took the burn back, and the transaction burned nothing when it was mined again: ` +
      'the money is still in the account there. Start another transfer.',
  );
}

/** Returns a time of the destination chain before which the burn cannot have arrived. */
export async function earliestArrival({ txHash }: SentTransfer, { chain }: CctpPlace): Promise<number> {
  const receipt = await chain.receipt(txHash);
  const block = receipt && (await chain.block(receipt.blockNumber));
  return block ? block.timestamp - CLOCK_SLACK_SECONDS : 0;
}
