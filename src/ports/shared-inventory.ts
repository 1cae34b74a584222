/**
 * What all replicas of one LP have promised together. A replica asks here before a signature leaves, and
 * tells what it learns from the chains; whoever keeps the sums decides for all of them at once. A promise
 * that ends late costs a quote, one that ends early costs money: so nothing ends here but by a chain's own
 * clock, or by what a chain proves.
 */

import type { UnixSeconds } from '../domain/time.ts';

/**
 * Counts against a cap on live quotes over all replicas, in whatever unit the cap has. Ends when the promise
 * is accepted.
 */
export interface CapClaim {
  key: string;
  amount: bigint;
  most: bigint;
}

/** One promise about to be signed. */
export interface NewPromise {
  orderId: string;
  /** What it is paid from, `<chainId>:<token>`, and how much of it, in base units. */
  bucket: string;
  amount: bigint;
  /** First second of chain time at which it may end: its deadline and the grace are both over. */
  endsAt: UnixSeconds;
  caps: readonly CapClaim[];
}

/**
 * Promises of one nonce: at most one of them can execute, so against every sum they count as their largest.
 */
export interface PromiseGroup {
  group: string;
  /** Whose clock ends them. */
  clockChainId: number;
  promises: readonly NewPromise[];
}

export type Verdict =
  | { held: true }
  /**
   * `key` is the bucket or the cap that is full; `room` the most that this promise might take of it, never
   * negative.
   */
  | { held: false; why: 'full'; key: string; room: bigint }
  /** By the chain's clock it would be over already, or no replica has told yet what the bucket holds. */
  | { held: false; why: 'late' | 'unknown_bucket' };

/** A promise that binds: accepted, open on its origin, or filled and not final. It does not lapse. */
export interface KeptPromise {
  orderId: string;
  group: string;
  clockChainId: number;
  bucket: string;
  amount: bigint;
}

/** What one replica knows of one chain after it has taken in a head. */
export interface ChainReport {
  chainId: number;
  /** Its last final block: `rooms` are as of it. */
  block: bigint;
  /** Time of the newest block whose events are all in this report or in an earlier one. */
  time: UnixSeconds;
  /**
   * What may be promised at most of each bucket: what lies there at `block` less what the owner takes out or
   * keeps back.
   */
  rooms: readonly { bucket: string; room: bigint }[];
  kept: readonly KeptPromise[];
  /** Open on this chain in our name, though this replica knows of no such promise. */
  strangers: readonly string[];
  /** Executed at or before `block` on this chain, or proven dead. */
  ended: readonly string[];
  /** Nonces used at depth: all but the winner are dead. null: none of ours won. */
  used: readonly { group: string; winner: string | null }[];
}

/** What all live promises of a bucket come to, as of this moment of ours. */
export interface SharedSum {
  sum: bigint;
  atMs: number;
}

export interface Told {
  /** Of the strangers: those that some replica has promised. */
  known: readonly string[];
  /** More has lapsed than was ended in this step: tell again. */
  more: boolean;
}

/** How this replica stands to the shared memory. */
export type SharedState =
  | { state: 'ready'; epoch: string }
  /** Nobody answers; what was asked last may or may not have been done. */
  | { state: 'unreachable'; note: string }
  /** It answers and does not remember what it was told: nothing is signed until it is joined again. */
  | { state: 'forgotten'; note: string };

export interface SharedInventory {
  /**
   * Takes part from now on. `generation` names the time since which every promise of this LP went through
   * here; a memory of another generation, or one that may have lost something, begins anew: then `until`
   * holds, chain times before whose passing nothing is signed. Throws `UpstreamError` when nobody answers.
   */
  join(
    generation: string,
    until: ReadonlyMap<number, UnixSeconds>,
  ): Promise<{ epoch: string; until: ReadonlyMap<number, UnixSeconds> }>;
  /**
   * One verdict for each promise, in order; undefined when it cannot be asked, and then nothing may be
   * signed. One round trip, never throws.
   */
  promise(group: PromiseGroup): Promise<readonly Verdict[] | undefined>;
  /** undefined when it cannot be told: tell it again with the next report. Never throws. */
  tell(report: ChainReport): Promise<Told | undefined>;
  /**
   * What binds and has not ended, for whoever looks after what nobody remembers. undefined when it cannot be
   * asked.
   */
  kept(): Promise<readonly Pick<KeptPromise, 'orderId' | 'group' | 'bucket'>[] | undefined>;
  /** Sums over all replicas by bucket or cap, as held now; undefined when it cannot be asked. */
  sums(): Promise<ReadonlyMap<string, bigint> | undefined>;
  /** As of what was last said about this bucket here; undefined before anything was. */
  seen(bucket: string): SharedSum | undefined;
  state(): SharedState;
  /** The state may have changed. */
  onState(listener: () => void): void;
  close(): Promise<void>;
}
