/** What the ledger is asked and what it shows: the shapes that everybody outside it sees. */

import type { Decline } from '../domain/decline.ts';
import type { Address } from '../domain/hex.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { Bucket } from './bucket.ts';
import type { HoldRequest, LedgerEvent } from './event.ts';
import type { CounterVisitor } from './counters.ts';
import type { Limits, Nearest } from './limits.ts';
import type { HoldState } from './hold-state.ts';
import type { LedgerSnapshot, SnapshotChunks, StoredBooks, StoredHold } from './snapshot.ts';

/** One token on one chain that we may hold, pay or receive. */
export interface BucketConfig {
  chainId: number;
  /** Lower case. */
  token: Address;
  /** The asset it is a location of, such as "WETH"; price risk is counted per asset over all chains. */
  asset: string;
  decimals: number;
  /** Never quoted: a floor kept for gas and mishaps. Default 0n. */
  buffer?: bigint;
  /** How far ledger and chain may differ before the bucket freezes. Default 0n. */
  dust?: bigint;
}

export interface LedgerOptions {
  buckets: readonly BucketConfig[];
  /**
   * Seconds after a promise's last second before its hold ends, per chain clock: skew, two blocks, submit
   * latency.
   */
  graceSeconds: (chainId: number) => number;
  limits: Limits;
  /** How long an ended quote is remembered, to tell a late acceptance from an unknown one. Default 60. */
  rememberSeconds?: number;
  /** The same for one that was executed: events may be read again from that far back. Default 900. */
  rememberSpentSeconds?: number;
  /** Every change of state, after it happened, in order. `replay` rebuilds the ledger from them. */
  onEvent?: (event: LedgerEvent) => void;
}

/**
 * What a bucket holds, in base units. `free` is what a new quote may promise; `shortfall` what promises
 * exceed the money by.
 */
export interface BucketView {
  chainId: number;
  token: Address;
  asset: string;
  decimals: number;
  onchain: bigint;
  pendingOut: bigint;
  committed: bigint;
  held: bigint;
  receivable: bigint;
  /** Of `receivable`: owed for so long that it counts for nothing in the exposure. */
  overdue: bigint;
  buffer: bigint;
  withdrawing: bigint;
  free: bigint;
  shortfall: bigint;
  /** Chain balance less ledger balance at the last comparison, when that froze the bucket; else null. */
  drift: bigint | null;
}

export interface QuoteView {
  request: HoldRequest;
  state: HoldState;
}

/** `critical`: it cannot happen when everybody is honest and up to date; log it as critical and page. */
export type Applied =
  | { applied: true; state: HoldState | null }
  | { applied: false; why: 'duplicate' | 'late' | 'unknown_order' | 'unknown_bucket'; critical: boolean };

export const DUPLICATE: Applied = { applied: false, why: 'duplicate', critical: false };

/** Position of an asset over all its chains, in 1e-18 of a whole token, whatever the token's decimals. */
export interface Exposure {
  /** Balances less what has left, plus what is owed to us and not overdue. */
  owned: bigint;
  /** Accepted orders not yet filled: what they will bring less what they will take. */
  committed: bigint;
  /** Live quotes, weighted by their chance to be taken. */
  quoted: bigint;
  /** V of the model: the sum of the three. */
  total: bigint;
}

export interface Ledger {
  /**
   * Reserves the output of a quote about to be signed, or says why not (`no_inventory`, `limit`, `validity`,
   * `standby`, `pair`), with the largest output amount that would pass. The same request again is held once.
   * `now` is chain time of the request's clock chain.
   */
  hold(request: HoldRequest, now: UnixSeconds): { held: true } | Decline;
  /** What `hold` would say against a promise that it has not seen, at the time it knows; holds nothing. */
  wouldRefuse(request: HoldRequest): Decline | undefined;
  /** Takes one event in. Never throws for what the outside world does. */
  apply(event: LedgerEvent): Applied;
  /**
   * Moves a chain's clock (see the `time` event: apply a block's events first) and ends what has lapsed, 50
   * at once at most; returns how many holds that ended.
   */
  advance(chainId: number, now: UnixSeconds): number;
  /** More has lapsed on this chain than was ended: advance again, when others have had their turn. */
  behind(chainId: number): boolean;
  free(chainId: number, token: Address): bigint;
  bucket(chainId: number, token: Address): BucketView | undefined;
  /** All of them, or those of one asset. */
  buckets(asset?: string): BucketView[];
  /**
   * The books of one asset themselves, in the order of `buckets` and the same for good: for the hot path.
   * What is in them changes.
   */
  places(asset: string): readonly Readonly<Bucket>[];
  quote(orderId: string): QuoteView | undefined;
  /**
   * Quotes of a nonce that are not over, oldest first: what one of them, or none, has used up for the others.
   */
  ofNonce(group: string): readonly string[];
  /** Has this chain fact about a quote been taken back? */
  undone(orderId: string, id: string): boolean;
  /** Fills on this chain that stand and are not final: what may have vanished while nobody looked. */
  shallow(chainId: number): { orderId: string; id: string }[];
  /** Promises that bind: accepted or restored, filled and not at depth. */
  binding(): HoldRequest[];
  /** Of the caps that a quote counts against, the one that is fullest now; undefined when none is set. */
  nearest(orderId: string): Nearest | undefined;
  exposure(asset: string): Exposure;
  /** Live quotes: held, not yet accepted or ended. */
  readonly live: number;
  setLimits(limits: Limits): void;
  /** Shows every counter that is not zero. */
  visitCounters(visitor: CounterVisitor): void;
  /** What of a token is never quoted; live promises stay as they are. */
  setBuffer(chainId: number, token: Address, buffer: bigint): void;
  /** The whole ledger, sorted, so that equal ledgers are equal bytes. Ends first what has expired. */
  snapshot(): LedgerSnapshot;
  /** The same unsorted and in chunks. */
  snapshotChunks(): SnapshotChunks;
  /**
   * Fills an empty ledger from a snapshot: first the books, then the holds in any number of chunks. Throws
   * `InvariantError` when the ledger is not empty or lacks a bucket.
   */
  loadBooks(books: StoredBooks): void;
  loadHolds(holds: readonly StoredHold[]): void;
}
