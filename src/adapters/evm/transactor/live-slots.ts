/** A slot as the process that holds its signer knows it, and what each of its keys is told of it. */

import type { Hex } from '../../../domain/hex.ts';
import type { ChainPort, Receipt } from '../../../ports/chain.ts';
import type { TxSlot } from '../../../ports/stores/store.ts';
import type { TxStatus } from '../../../ports/transactor.ts';
import { failedIn } from '../../../settlement/batch.ts';

export interface Live {
  slot: TxSlot;
  /** Head number at the last attempt or rebroadcast. */
  sentAtBlock: bigint;
  /** Since when the nonce is used without a receipt of ours. */
  missingSince: bigint | undefined;
  receipt: Receipt | undefined;
  mustReplace: boolean;
  /** No node will ever take the intent: its nonce has to go to a no-op. */
  mustEnd: boolean;
  /** Being signed by `place` right now. */
  busy: boolean;
  /** How often in a row no signature was to be had. */
  unsigned: number;
}

export const liveOf = (slot: TxSlot, sentAtBlock: bigint): Live => ({
  slot,
  sentAtBlock,
  missingSince: undefined,
  receipt: undefined,
  mustReplace: false,
  mustEnd: false,
  busy: false,
  unsigned: 0,
});

/** With what the contract Batch says of a bundle. */
export const receiptOf = (chain: ChainPort, { keys, to }: TxSlot, hash: Hex): Promise<Receipt | undefined> =>
  chain.receipt(hash, keys.length > 1 ? to : undefined);

export function statusOf({ slot, receipt }: Live, key: string): TxStatus {
  const hashes = slot.attempts.map(({ hash }) => hash);
  if (slot.state === 'void') return { state: 'void', reason: slot.reason ?? '', hashes };
  if (slot.state !== 'mined' || !receipt) return { state: 'pending', hashes };
  const refused = (failedIn(receipt.logs ?? []) >> BigInt(slot.keys.indexOf(key))) & 1n;
  return { state: 'mined', receipt: refused ? { ...receipt, status: 'reverted' } : receipt, hashes };
}
