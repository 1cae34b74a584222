/** The interface of the ledger: its options, its operations and the views it returns. */

import type { Decline } from '../domain/decline.ts';
import type { Address } from '../domain/hex.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { amountsOf, Bucket, BucketConfig } from './bucket.ts';
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

export type BucketView = ReturnType<typeof amountsOf>;

interface QuoteView {
  request: HoldRequest;
  state: HoldState;
}

export type { BucketConfig };

/** `critical`: impossible while every part is correct and up to date; log it as critical and page. */
export type Applied =
  | { applied: true; state: HoldState | null }
  | { applied: false; why: 'duplicate' | 'late' | 'unknown_order' | 'unknown_bucket'; critical: boolean };

export const DUPLICATE: Applied = { applied: false, why: 'duplicate', critical: false };

/** Exposure to an asset over all its chains, in 1e-18 of a whole token, whatever its decimals. */
export interface Exposure {
  /** Balances less fills that are not final, plus receivables that are not overdue. */
  owned: bigint;
  /** Accepted orders that are not filled: their inputs less their outputs. */
  committed: bigint;
  /** Live quotes, weighted by the chance of acceptance. */
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
  /** More holds are due on this chain than the last step took: advance again. */
  hasBacklog(chainId: number): boolean;
  free(chainId: number, token: Address): bigint;
  bucket(chainId: number, token: Address): BucketView | undefined;
  /** All of them, or those of one asset. */
  buckets(asset?: string): BucketView[];
  /** The live buckets of an asset in the order of `buckets`, without copies for the quote path. */
  bucketsOf(asset: string): readonly Readonly<Bucket>[];
  quote(orderId: string): QuoteView | undefined;
  /** The orders of a nonce whose holds have not ended, oldest first. */
  ordersOfNonce(group: string): readonly string[];
  /** Whether a reorganisation took this chain fact back. */
  isReorganised(orderId: string, id: string): boolean;
  /** Valid fills on this chain that are not final. */
  unfinalFills(chainId: number): { orderId: string; id: string }[];
  /** Requests of holds that are accepted or filled and not final. */
  openPromises(): HoldRequest[];
  /** The cap that is fullest among those the hold counts against; undefined when none is set. */
  fullestCap(orderId: string): FullestCap | undefined;
  exposure(asset: string): Exposure;
  /** Live quotes: held, not accepted, not ended. */
  readonly live: number;
  setLimits(limits: Limits): void;
  /** Shows every counter that is not zero. */
  visitCounters(visitor: CounterVisitor): void;
  /** Changes the reserve that is never quoted; live holds stay. */
  setBuffer(chainId: number, token: Address, buffer: bigint): void;
  /** The whole ledger, sorted so that equal ledgers are equal bytes. Ends expired holds first. */
  snapshot(): LedgerSnapshot;
  /** The same unsorted and in chunks. */
  snapshotChunks(): SnapshotChunks;
  /**
   * Fills an empty ledger: first the books, then the holds in any number of chunks. Throws `InvariantError`
   * when the ledger is not empty or lacks a bucket.
   */
  loadBooks(books: StoredBooks): void;
  loadHolds(holds: readonly StoredHold[]): void;
}
