/** Transfers of inventory between chains, and what final blocks say of them. */

import type { TransferFact } from '../../settlement/transfer.ts';
import type { BridgeEstimate, BridgeMove, SentTransfer } from '../bridge.ts';

export interface StoredTransfer {
  /** Never reused: keys of transactions are made of it. */
  id: string;
  bridge: string;
  move: BridgeMove;
  /** Why, and who wanted it, in words. */
  reason: string;
  createdAtMs: number;
  /** The estimate of the last attempt to send, stored before it. */
  estimate: BridgeEstimate | null;
  sent: SentTransfer | null;
  facts: readonly TransferFact[];
}

/** All throw `UpstreamError` when the database does not answer. */
export interface TransferStore {
  /**
   * False, and nothing is added, when a transfer of the same account, chain and token is open: the escrow
   * keeps one withdrawal request for each.
   */
  add(transfer: StoredTransfer): Promise<boolean>;
  /**
   * Appends `fact` as number `at`, from 0. False, and nothing is written, when a fact with that number is
   * there: another process was faster. `final`: the transfer is over.
   */
  append(
    id: string,
    at: number,
    fact: TransferFact,
    also: { sent?: SentTransfer; final: boolean },
  ): Promise<boolean>;
  putEstimate(id: string, estimate: BridgeEstimate): Promise<void>;
  find(id: string): Promise<StoredTransfer | undefined>;
  /** Returns open transfers, oldest first. */
  open(): Promise<StoredTransfer[]>;
  /** Returns transfers, newest first. */
  newest(limit: number): Promise<StoredTransfer[]>;
}
