/**
 * Holds of all replicas of one LP in one place. A replica reserves here before it signs and reports what it
 * learns from the chains. A hold that ends late costs a quote; one that ends early costs money. So holds end
 * only by chain time or by proof from a chain.
 */

import type { UnixSeconds } from '../domain/time.ts';

/**
 * Counts against a cap on live quotes over all replicas, in the cap's unit. Ends when the quote is accepted.
 */
export interface SharedCapClaim {
  key: string;
  amount: bigint;
  most: bigint;
}

/** A hold for a quote about to be signed. */
export interface NewPromise {
  orderId: string;
  /** Inventory it is paid from, `<chainId>:<token>`, and the amount in base units. */
  bucket: string;
  amount: bigint;
  /** First second of chain time at which it may end: deadline plus grace. */
  endsAt: UnixSeconds;
  caps: readonly SharedCapClaim[];
}

/** Holds of one taker nonce. At most one can execute, so they count as their largest. */
export interface PromiseGroup {
  group: string;
  /** Chain whose time ends them. */
  clockChainId: number;
  promises: readonly NewPromise[];
}

export type Verdict =
  | { held: true }
  /** `key` is the bucket or cap that is full; `room` the largest amount that would fit, never negative. */
  | { held: false; why: 'full'; key: string; room: bigint }
  /** `late`: already over by chain time. `unknown_bucket`: no replica has reported the bucket yet. */
  | { held: false; why: 'late' | 'unknown_bucket' };

/** A binding hold: accepted, open on its origin, or filled but not final. It does not expire. */
export interface KeptPromise {
  orderId: string;
  group: string;
  clockChainId: number;
  bucket: string;
  amount: bigint;
}

/** What one replica knows of one chain after processing a head. */
export interface ChainReport {
  chainId: number;
  /** The last final block; `rooms` are as of it. */
  block: bigint;
  /** Time of the newest block whose events are all in this or an earlier report. */
  time: UnixSeconds;
  /** Upper bound of holds per bucket: the balance at `block` less withdrawals and buffer. */
  rooms: readonly { bucket: string; room: bigint }[];
  kept: readonly KeptPromise[];
  /** Orders open on this chain in our name that this replica has no hold for. */
  strangers: readonly string[];
  /** Orders executed at or before `block` on this chain, or proven dead. */
  ended: readonly string[];
  /** Nonces used in final blocks: every hold but the winner is dead. null: none of ours won. */
  used: readonly { group: string; winner: string | null }[];
}

/** Sum of all live holds of a bucket, as of `atMs` of our clock. */
export interface SharedSum {
  sum: bigint;
  atMs: number;
}

export interface Told {
  /** The strangers that some replica has a hold for. */
  known: readonly string[];
  /** More holds have expired than this call ended: report again. */
  more: boolean;
}

/** Connection of this replica to the shared store. */
export type SharedState =
  | { state: 'ready'; epoch: string }
  /** The store does not answer; the last call may or may not have taken effect. */
  | { state: 'unreachable'; note: string }
  /** The store answers but has lost its data: nothing is signed until `join` is called again. */
  | { state: 'forgotten'; note: string };

export interface SharedInventory {
  /**
   * Joins the shared store. `generation` names the period in which every hold of this LP went through it. A
   * store of another generation, or one that may have lost data, starts empty: then nothing is signed on a
   * chain before its time in `until`. Throws `UpstreamError` when the store does not answer.
   */
  join(
    generation: string,
    until: ReadonlyMap<number, UnixSeconds>,
  ): Promise<{ epoch: string; until: ReadonlyMap<number, UnixSeconds> }>;
  /**
   * One verdict per hold, in order; undefined when the store cannot be reached, and then nothing may be
   * signed. One round trip, never throws.
   */
  promise(group: PromiseGroup): Promise<readonly Verdict[] | undefined>;
  /** undefined when the store cannot be reached: repeat it with the next report. Never throws. */
  tell(report: ChainReport): Promise<Told | undefined>;
  /** Binding holds that have not ended; undefined when the store cannot be reached. */
  kept(): Promise<readonly Pick<KeptPromise, 'orderId' | 'group' | 'bucket'>[] | undefined>;
  /** Current sums over all replicas by bucket or cap; undefined when the store cannot be reached. */
  sums(): Promise<ReadonlyMap<string, bigint> | undefined>;
  /** The last sum received for this bucket; undefined before the first. */
  seen(bucket: string): SharedSum | undefined;
  state(): SharedState;
  /** Called when the state may have changed. */
  onState(listener: () => void): void;
  close(): Promise<void>;
}
