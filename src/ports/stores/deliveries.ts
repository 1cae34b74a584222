/** Ledger deliveries and withdrawals: an index over facts, with the read position in each chain's events. */

import type { Fact } from '../../domain/fact.ts';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import type { OrderRecord } from './store.ts';

export interface LedgerDelivery {
  orderId: Bytes32;
  outputIndex: number;
  workspaceId: string;
  /** Still in the ledger. */
  left: bigint;
  /** Part of `left` that the account has requested. */
  requested: bigint;
  autoWithdraw: boolean;
}

export interface DueDelivery extends LedgerDelivery {
  /** Chain time of the next try. */
  lookAt: number;
}

export interface EventPlace {
  block: bigint;
  logIndex: number;
}

export interface LateFacts {
  before: OrderRecord;
  facts: readonly Fact[];
}

export interface DeliveryStore {
  /** Should be paid out by this chain time, also those to be tried later: the first to try come first. */
  dueDeliveries(chainId: number, now: number, limit: number): Promise<DueDelivery[]>;
  /** The next try is not before this chain time. */
  postponeDelivery(delivery: Pick<LedgerDelivery, 'orderId' | 'outputIndex'>, until: number): Promise<void>;
  /** Returns deliveries that are not fully paid out; oldest first, at most 1,000. */
  openDeliveries(chainId: number, account: Address, token: Address): Promise<LedgerDelivery[]>;
  /**
   * Appends facts that change neither status nor finality, so no claim is needed. false, and nothing written,
   * when the order has changed meanwhile.
   */
  appendLate(late: LateFacts, atMs: number): Promise<boolean>;
  /** The first call starts at `block`. */
  withdrawalsRead(chainId: number, block: bigint): Promise<EventPlace>;
  /**
   * One transaction per event. `known`: already read. `moved`: nothing written, because an order has
   * changed.
   */
  readWithdrawal(
    chainId: number,
    place: EventPlace,
    late: readonly LateFacts[],
    atMs: number,
  ): Promise<'written' | 'known' | 'moved'>;
}
