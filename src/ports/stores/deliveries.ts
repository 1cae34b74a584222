/**
 * Outputs delivered into the escrow's ledger and what was withdrawn since: an index over facts, with the read
 * position in each chain's withdrawal events.
 */

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
  /** It will be paid out automatically. */
  autoWithdraw: boolean;
}

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
  /** May be paid out by this chain time; oldest first. */
  dueDeliveries(chainId: number, now: number, limit: number): Promise<LedgerDelivery[]>;
  /** Chain time. */
  postponeDelivery(delivery: Pick<LedgerDelivery, 'orderId' | 'outputIndex'>, until: number): Promise<void>;
  /** With something left; oldest first, at most 1,000. */
  openDeliveries(chainId: number, account: Address, token: Address): Promise<LedgerDelivery[]>;
  /**
   * Facts that change neither status nor finality need no claim. false, and nothing written, when the order
   * has changed meanwhile.
   */
  appendLate(late: LateFacts, atMs: number): Promise<boolean>;
  /** The first call starts at `block`. */
  withdrawalsRead(chainId: number, block: bigint): Promise<EventPlace>;
  /**
   * One transaction per event, only once. `known`: this or a later event was read before. `moved`: nothing
   * was written, because an order has changed meanwhile.
   */
  readWithdrawal(
    chainId: number,
    place: EventPlace,
    late: readonly LateFacts[],
    atMs: number,
  ): Promise<'written' | 'known' | 'moved'>;
}
