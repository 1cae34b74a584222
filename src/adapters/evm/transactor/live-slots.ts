/** In-memory state of a slot, and the status reported for its keys. */

import type { Hex } from '../../../domain/hex.ts';
import type { ChainPort, Receipt, SendOutcome } from '../../../ports/chain.ts';
import type { SlotEnd, TxSlot } from '../../../ports/stores/tx-store.ts';
import type { TxStatus } from '../../../ports/transactor.ts';
import type { UnixSeconds } from '../../../domain/time.ts';
import { failedIn } from '../../../settlement/batch.ts';

export interface Live {
  slot: TxSlot;
  sentAtBlock: bigint;
  /** Head number since which the nonce is used without one of our receipts. */
  missingSince: bigint | undefined;
  receipt: Receipt | undefined;
  mustReplace: boolean;
  /** No node has the bytes yet: the same bytes go out again at the next block. */
  mustResend: boolean;
  /** No node accepts the intent: a no-op must take its nonce. */
  mustEnd: boolean;
  busy: boolean;
  unsigned: number;
}

export const liveOf = (slot: TxSlot, sentAtBlock: bigint): Live => ({
  slot,
  sentAtBlock,
  missingSince: undefined,
  receipt: undefined,
  mustReplace: false,
  mustResend: false,
  mustEnd: false,
  busy: false,
  unsigned: 0,
});

/** Returns true while the nonce is unused: then the slot's bytes may never have reached a node. */
export const mayBeUnsent = ({ slot }: Live, minedCount: number): boolean =>
  slot.state === 'open' && slot.nonce >= minedCount;

export const lacksSignature = ({ slot }: Live): boolean => slot.attempts.length === 0;

export const needsNoop = ({ slot, mustEnd }: Live, headTimestamp: UnixSeconds): boolean =>
  (mustEnd || (slot.notAfter !== null && headTimestamp > slot.notAfter)) &&
  !(slot.attempts.at(-1)?.noop ?? false);

/** Other bytes follow if these can never be mined. */
export function noteOutcome(entry: Live, { noop }: { noop: boolean }, { kind }: SendOutcome): void {
  if (kind === 'underpriced') entry.mustReplace = true;
  if (kind === 'not_now' || kind === 'out_of_funds') entry.mustResend = true;
  if (kind === 'rejected' && !noop) entry.mustEnd = true;
}

/** Describes how a slot ended: by attempt `at`, or without a receipt by a foreign transaction. */
export function slotEndOf({ id, attempts }: TxSlot, at: number, receipt: Receipt | undefined): SlotEnd {
  if (!receipt)
    return {
      slotId: id,
      state: 'void',
      reason: 'a foreign transaction used this nonce: is the key in use elsewhere?',
      mined: null,
    };
  const noop = attempts[at]?.noop ?? false;
  const { txHash, blockNumber, blockHash } = receipt;
  return {
    slotId: id,
    state: noop ? 'void' : 'mined',
    reason: noop ? 'its time was over, so a no-op took the nonce' : null,
    mined: { txHash, blockNumber, blockHash },
  };
}

/** A bundle's receipt includes the logs of the Batch contract. */
export const receiptOf = (chain: ChainPort, { keys, to }: TxSlot, hash: Hex): Promise<Receipt | undefined> =>
  chain.receipt(hash, keys.length > 1 ? to : undefined);

export function slotStatus({ slot, receipt }: Live, key: string): TxStatus {
  const hashes = slot.attempts.map(({ hash }) => hash);
  if (slot.state === 'void') return { state: 'void', reason: slot.reason ?? '', hashes };
  if (slot.state !== 'mined' || !receipt) return { state: 'pending', hashes };
  const refused = (failedIn(receipt.logs ?? []) >> BigInt(slot.keys.indexOf(key))) & 1n;
  return { state: 'mined', receipt: refused ? { ...receipt, status: 'reverted' } : receipt, hashes };
}
