/**
 * Outputs that went into a ledger, and what left of them: an index over facts, moved in the same transaction,
 * and how far the chains' withdrawals have been read into it.
 */

import type { Fact } from '../../domain/fact.ts';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import type { OrderRecord } from './store.ts';

export interface LedgerDelivery {
  orderId: Bytes32;
  outputIndex: number;
  workspaceId: string;
  /** Of the amount, what has not left the ledger. */
  left: bigint;
  /** Of what is left, what the account has asked for. */
  requested: bigint;
  /** It leaves by itself: deferred, and not ended. */
  autoWithdraw: boolean;
}

/** A place among a chain's events. */
export interface EventPlace {
  block: bigint;
  logIndex: number;
}

/** Facts to add to one order as it was read. */
export interface LateFacts {
  before: OrderRecord;
  facts: readonly Fact[];
}

export interface DeliveryStore {
  /** Deferred deliveries that may be paid out by this chain time, oldest first. */
  dueDeliveries(chainId: number, now: number, limit: number): Promise<LedgerDelivery[]>;
  /** Not due before this chain time again. */
  postponeDelivery(delivery: Pick<LedgerDelivery, 'orderId' | 'outputIndex'>, until: number): Promise<void>;
  /** Of this account in this token, those of which something is left, oldest first; a thousand at most. */
  openDeliveries(chainId: number, account: Address, token: Address): Promise<LedgerDelivery[]>;
  /**
   * Adds facts that change neither an order's status nor whether it is final, so nobody's claim is needed;
   * announced like others. false, and nothing written, when the order has moved on meanwhile.
   */
  appendLate(late: LateFacts, atMs: number): Promise<boolean>;
  /** How far a chain's withdrawals have been read; the first call starts at `block`. */
  withdrawalsRead(chainId: number, block: bigint): Promise<EventPlace>;
  /**
   * What one event says, in one transaction, once: `known` when this or a later event was read before;
   * `moved`, and nothing written, when one of the orders has moved on.
   */
  readWithdrawal(
    chainId: number,
    place: EventPlace,
    late: readonly LateFacts[],
    atMs: number,
  ): Promise<'written' | 'known' | 'moved'>;
}
