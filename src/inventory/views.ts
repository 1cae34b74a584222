/** The interface of the ledger: its options, its operations and the views it returns. */

import type { Decline } from '../domain/decline.ts';
import type { Address } from '../domain/hex.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { Bucket, BucketConfig, BucketView, OperatorLimit } from './bucket.ts';
import type { HoldRequest, LedgerEvent } from './event.ts';
import type { CounterVisitor } from './counters.ts';
import type { Limits, FullestCap } from './limits.ts';
import type { HoldState } from './hold-state.ts';
import type { LedgerSnapshot, SnapshotChunks, StoredBooks, StoredHold } from './snapshot.ts';

export interface LedgerOptions {
  buckets: readonly BucketConfig[];
  /** Seconds from a quote's last second to the end of its hold: skew, two blocks, submit latency. */
  graceSeconds: (chainId: number) => number;
  limits: Limits;
  /** Seconds for which an ended hold is remembered, to recognise a late acceptance. Default 60. */
  rememberSeconds?: number;
  /** The same for a filled one, because chain events may be read again from so far back. Default 900. */
  rememberSpentSeconds?: number;
  /** Called after every change, in order. `replay` rebuilds the ledger from these events. */
  onEvent?: (event: LedgerEvent) => void;
}

interface QuoteView {
  request: HoldRequest;
  state: HoldState;
}

export type { BucketConfig, BucketView };

/** `critical`: impossible while every part is correct and up to date; log it as critical and page. */
export type Applied =
  | { applied: true; state: HoldState | null }
  | { applied: false; why: 'duplicate' | 'late' | 'unknown_order' | 'unknown_bucket'; critical: boolean };

export const DUPLICATE: Applied = { applied: false, why: 'duplicate', critical: false };

/** Exposure to an asset over all its chains, in 1e-18 of a whole token, whatever its decimals. */
export interface Exposure {
  /** Includes what is in transit between chains. */
  owned: bigint;
  committed: bigint;
  quoted: bigint;
  /** The sum of the three: V of the pricing model. */
  total: bigint;
}

export interface Ledger {
  /**
   * Holds the output of a quote before signing, or declines (`no_inventory`, `limit`, `validity`, `standby`,
   * `pair`) with the largest passing output. Idempotent. `now`: time of the clock chain of the request.
   */
  hold(request: HoldRequest, now: UnixSeconds): { held: true } | Decline;
  /** The decline of `hold` for a new request, at the time of the last event. */
  wouldRefuse(request: HoldRequest): Decline | undefined;
  /** Applies one event. Never throws for what takers, chains or the venue do. */
  apply(event: LedgerEvent): Applied;
  /**
   * Advances a chain clock after the events of the block and ends at most 50 holds. Returns the number of
   * expired live quotes.
   */
  advance(chainId: number, now: UnixSeconds): number;
  hasBacklog(chainId: number): boolean;
  free(chainId: number, token: Address): bigint;
  bucket(chainId: number, token: Address): BucketView | undefined;
  buckets(asset?: string): BucketView[];
  /** The live buckets of an asset in the order of `buckets`, without copies for the quote path. */
  bucketsOf(asset: string): readonly Readonly<Bucket>[];
  quote(orderId: string): QuoteView | undefined;
  ordersOfNonce(group: string): readonly string[];
  isReorganised(orderId: string, id: string): boolean;
  unfinalFills(chainId: number): { orderId: string; id: string }[];
  openPromises(): HoldRequest[];
  fullestCap(orderId: string): FullestCap | undefined;
  exposure(asset: string): Exposure;
  /** Live quotes: held, not accepted, not ended. */
  readonly live: number;
  setLimits(limits: Limits): void;
  /**
   * Sets the amount that left one chain for another and is in no bucket, in 1e-18 of a whole token. Not in
   * snapshots.
   */
  setInTransit(asset: string, amount: bigint): void;
  visitCounters(visitor: CounterVisitor): void;
  setBuffer(chainId: number, token: Address, buffer: bigint): void;
  /** Sets what the chain lets the operator spend of a token; null without a limit. */
  setOperatorLimit(chainId: number, token: Address, limit: OperatorLimit | null): void;
  /** The whole ledger, sorted so that equal ledgers are equal bytes. Ends expired holds first. */
  snapshot(): LedgerSnapshot;
  snapshotChunks(): SnapshotChunks;
  /**
   * Fills an empty ledger: first the books, then the holds in any number of chunks. Throws `InvariantError`
   * when the ledger is not empty or lacks a bucket.
   */
  loadBooks(books: StoredBooks): void;
  loadHolds(holds: readonly StoredHold[]): void;
}
