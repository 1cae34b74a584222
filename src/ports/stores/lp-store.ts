/**
 * What an LP must not forget: the orders it was awarded, the time up to which it may have signed, and on a
 * clean stop the whole ledger. One process owns it at a time; a later one takes it over and the earlier can
 * write no more.
 */

import type { SignedCommitment } from '../../domain/commitment.ts';
import type { Bytes32, Hex } from '../../domain/hex.ts';
import type { StandardOrder } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Lease } from '../../inventory/lease.ts';
import type { SnapshotPieces } from '../../inventory/snapshot.ts';

/** `committed` and `filled` are open; the others are final. */
export type AwardStage = 'committed' | 'filled' | 'finalised' | 'failed';

export interface LpAward {
  orderId: Bytes32;
  quoteId: Bytes32;
  order: StandardOrder;
  /** Which output is ours. */
  outputIndex: number;
  /** Our own promise, as evidence; null when only the chain told us of the order. */
  commitment: SignedCommitment | null;
  stage: AwardStage;
  /** Our fill on another chain: its block time is part of what attesters sign and the claim repeats. */
  fill: { timestamp: UnixSeconds; txHash: Hex; blockNumber: bigint } | null;
  /** Why it failed, or what is being waited for. */
  note: string | null;
  acceptedAtMs: number;
  updatedAtMs: number;
}

/** How far a chain's events have been taken into the ledger. */
export interface ChainCursor {
  chainId: number;
  block: bigint;
  hash: Hex;
}

/** Written last by a process that has stopped signing. */
export interface CleanStop {
  ledger: SnapshotPieces;
  cursors: readonly ChainCursor[];
}

/** What the last owner left. */
export interface Opening {
  /** Which owner this is; other stores of this LP write only while it is the newest. */
  epoch: number;
  /** By chain id. */
  leases: ReadonlyMap<number, Lease>;
  /** null after anything but a clean stop. It is handed out once. */
  clean: CleanStop | null;
  /** Awards that are not final, oldest first. */
  awards: readonly LpAward[];
  /** What `putRisk` wrote last, by name. */
  risk: ReadonlyMap<string, unknown>;
  /** What `putCurves` wrote last; null when nothing was. */
  curves: unknown;
}

/** What a replica finds. It has no clean stop to take up: what it promised lies in the shared inventory. */
export interface Joining extends Opening {
  clean: null;
  /** Names the time since which every promise of this LP went through the shared inventory. */
  generation: string;
}

/** How the replicas stand, as of a moment ago. */
export interface Lead {
  /** This one leads: its writes of what only one may write count. */
  mine: boolean;
  /** Some replica leads, perhaps this one. */
  taken: boolean;
  /** A process that runs the LP alone has taken it over from all of them. */
  over: boolean;
}

/**
 * All throw `UpstreamError` when the database does not answer. Writes answer false, and write nothing, once
 * another process has taken over. After `join`, leases and risk are written for this replica alone (but for
 * the kill switch, which is one), an award that nobody has written yet by any replica, and all else by
 * whoever leads.
 */
export interface LpStore {
  /** Takes the store over from whoever had it. From here on every lease counts as unclean until `stop`. */
  open(): Promise<Opening>;
  /**
   * Takes part as one of several replicas: takes the store from a process that ran the LP alone, and from
   * nobody else.
   */
  join(replica: string): Promise<Joining>;
  /** Takes the lead for so long, or keeps it, where nobody else has it. */
  lead(leaseMs: number): Promise<Lead>;
  /** Of this replica's lead: what other writers behind the same fence are opened with. */
  epoch(): number;
  /** By chain id, the latest time up to which any process of this LP may have signed. */
  signedUpTo(): Promise<ReadonlyMap<number, UnixSeconds>>;
  /** Awards that are not final and none of these, oldest first, a bounded number. */
  awardsBut(known: readonly Bytes32[]): Promise<LpAward[]>;
  writeLease(chainId: number, lease: Lease): Promise<boolean>;
  /** Inserts or updates by orderId. */
  putAward(award: LpAward): Promise<boolean>;
  /** What a risk control must remember over a crash (a kill switch, a loss), whole, as JSON. */
  putRisk(name: string, value: object): Promise<boolean>;
  /**
   * The kill switch of several replicas, one for all: adds what these hands say, or with null takes back what
   * every hand said.
   */
  sayKill(word: Readonly<Record<string, string>> | null): Promise<boolean>;
  /** What holds it, by hand. */
  killSaid(): Promise<unknown>;
  /** Win-rate curves as they were learned, whole, as the text of a JSON object. */
  putCurves(json: string): Promise<boolean>;
  award(orderId: Bytes32): Promise<LpAward | undefined>;
  /** Newest first. */
  listAwards(limit: number): Promise<LpAward[]>;
  /**
   * Everything of a clean stop in one transaction: the ledger, the cursors, every lease marked clean. A
   * replica gives up its lead, no more.
   */
  stop(clean: CleanStop): Promise<boolean>;
  ping(): Promise<void>;
  close(): Promise<void>;
}
