/**
 * Outputs delivered into the escrow's ledger and what has been withdrawn since: an index over facts, updated
 * in the same transaction, with the read position in each chain's withdrawal events.
 */

import type { Fact } from '../../domain/fact.ts';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import type { OrderRecord } from './store.ts';

export interface LedgerDelivery {
  orderId: Bytes32;
  outputIndex: number;
  workspaceId: string;
  /** Part of the amount that is still in the ledger. */
  left: bigint;
  /** Part of `left` that the account has requested to withdraw. */
  requested: bigint;
  /** Deferred and not ended: it will be paid out automatically. */
  autoWithdraw: boolean;
}

/** Position of an event on a chain. */
export interface EventPlace {
  block: bigint;
  logIndex: number;
}

/** Facts to append to an order as it was read. */
export interface LateFacts {
  before: OrderRecord;
  facts: readonly Fact[];
}

export interface DeliveryStore {
  /** Deferred deliveries that may be paid out by this chain time, oldest first. */
  dueDeliveries(chainId: number, now: number, limit: number): Promise<LedgerDelivery[]>;
  /** Makes the delivery not due before this chain time. */
  postponeDelivery(delivery: Pick<LedgerDelivery, 'orderId' | 'outputIndex'>, until: number): Promise<void>;
  /** Deliveries of this account and token with something left, oldest first; at most 1,000. */
  openDeliveries(chainId: number, account: Address, token: Address): Promise<LedgerDelivery[]>;
  /**
   * Appends facts that change neither an order's status nor its finality, so no claim is needed. Announced
   * like other facts. Returns false, and writes nothing, when the order has changed meanwhile.
   */
  appendLate(late: LateFacts, atMs: number): Promise<boolean>;
  /** Read position in a chain's withdrawals; the first call starts at `block`. */
  withdrawalsRead(chainId: number, block: bigint): Promise<EventPlace>;
  /**
   * Writes what one event changes, in one transaction and only once. `known`: this or a later event was read
   * before. `moved`: nothing was written, because one of the orders has changed meanwhile.
   */
  readWithdrawal(
    chainId: number,
    place: EventPlace,
    late: readonly LateFacts[],
    atMs: number,
  ): Promise<'written' | 'known' | 'moved'>;
}
