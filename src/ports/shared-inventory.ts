/**
 * Holds of all replicas of one LP. A replica reserves here before it signs, and reports what it reads from
 * the chains. Holds end only by chain time or by proof from a chain: ending early costs money.
 */

import type { UnixSeconds } from '../domain/time.ts';

/** Counts against a cap over all replicas, in the cap's unit, until the quote is accepted. */
interface SharedCapClaim {
  key: string;
  amount: bigint;
  most: bigint;
}

interface NewSharedHold {
  orderId: string;
  /** `<chainId>:<token>`. */
  bucket: string;
  amount: bigint;
  /** First second of chain time at which it may end: deadline plus grace. */
  endsAt: UnixSeconds;
  caps: readonly SharedCapClaim[];
}

/** Holds of one taker nonce. At most one can execute, so they count as their largest. */
export interface SharedHoldGroup {
  group: string;
  /** Chain whose time ends them. */
  clockChainId: number;
  promises: readonly NewSharedHold[];
}

export type Verdict =
  | { held: true }
  /** `key` is the full bucket or cap; `room` the largest amount that would fit, never negative. */
  | { held: false; why: 'full'; key: string; room: bigint }
  /** `late`: over by chain time. `unknown_bucket`: no replica has reported the bucket. */
  | { held: false; why: 'late' | 'unknown_bucket' };

/** A binding hold: accepted, open on its origin, or filled but not final. It does not expire. */
export interface BindingHold {
  orderId: string;
  group: string;
  clockChainId: number;
  bucket: string;
  amount: bigint;
}

/** One replica's view of one chain after a head. */
export interface ChainReport {
  chainId: number;
  /** The last final block, which `rooms` refer to. */
  block: bigint;
  /** The time of the newest block whose events are all in this or an earlier report. */
  time: UnixSeconds;
  /** Upper bound of holds: the balance at `block` less withdrawals and buffer. */
  rooms: readonly { bucket: string; room: bigint }[];
  kept: readonly BindingHold[];
  /** Orders open in our name that this replica has no hold for. */
  unknownOrders: readonly string[];
  /** Executed at or before `block`, or proven dead. */
  ended: readonly string[];
  /** Used in final blocks: every hold but the winner is dead. null: none of ours won. */
  used: readonly { group: string; winner: string | null }[];
}

/** Sums all live holds of a bucket, as of `atMs` of our clock. */
export interface SharedSum {
  sum: bigint;
  atMs: number;
}

interface ReportResult {
  /** Unknown orders that some replica has a hold for. */
  known: readonly string[];
  /** More holds have expired: report again. */
  more: boolean;
}

export type SharedState =
  | { state: 'ready'; epoch: string }
  /** The last call may or may not have taken effect. */
  | { state: 'unreachable'; note: string }
  /** The store has lost its data: nothing is signed until `join` is called again. */
  | { state: 'forgotten'; note: string };

export interface SharedInventory {
  /**
   * `generation` names the period in which every hold went through the store. A store of another
   * generation, or that may have lost data, starts empty: nothing is signed on a chain before its time in
   * `until`. Throws `UpstreamError`.
   */
  join(
    generation: string,
    until: ReadonlyMap<number, UnixSeconds>,
  ): Promise<{ epoch: string; until: ReadonlyMap<number, UnixSeconds> }>;
  /** One per hold, in order. undefined when unreachable: nothing may be signed. Never throws. */
  reserve(group: SharedHoldGroup): Promise<readonly Verdict[] | undefined>;
  /** undefined when unreachable: repeat it with the next report. Never throws. */
  report(report: ChainReport): Promise<ReportResult | undefined>;
  /** Binding holds; undefined when the store cannot be reached. */
  kept(): Promise<readonly Pick<BindingHold, 'orderId' | 'group' | 'bucket'>[] | undefined>;
  /** Returns the sums by bucket or cap, over all replicas; undefined when unreachable. */
  sums(): Promise<ReadonlyMap<string, bigint> | undefined>;
  seen(bucket: string): SharedSum | undefined;
  state(): SharedState;
  onState(listener: () => void): void;
  close(): Promise<void>;
}
