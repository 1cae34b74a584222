/**
 * What an LP must not lose: awarded orders, the times up to which it may have signed, and after a clean stop
 * its whole ledger. One process owns the store; when another takes over, the earlier one can no longer write.
 */

import type { SignedCommitment } from '../../domain/commitment.ts';
import type { Bytes32, Hex } from '../../domain/hex.ts';
import type { StandardOrder } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Lease } from '../../inventory/lease.ts';
import type { LedgerSnapshot, SnapshotChunks } from '../../inventory/snapshot.ts';

/** `committed` and `filled` are open; the others are final. */
export type AwardStage = 'committed' | 'filled' | 'finalised' | 'failed';

export interface LpAward {
  orderId: Bytes32;
  quoteId: Bytes32;
  order: StandardOrder;
  /** Index of our output. */
  outputIndex: number;
  /** Our own commitment, as evidence; null when we learned of the order from the chain. */
  commitment: SignedCommitment | null;
  stage: AwardStage;
  /** Our fill on another chain. Attesters sign its block time, and the claim repeats it. */
  fill: { timestamp: UnixSeconds; txHash: Hex; blockNumber: bigint } | null;
  /** Why it failed, or what it waits for. */
  note: string | null;
  acceptedAtMs: number;
  updatedAtMs: number;
}

/** How far a chain's events have been applied to the ledger. */
export interface ChainCursor {
  chainId: number;
  block: bigint;
  hash: Hex;
}

/** What a process wrote last, after it had stopped signing. */
export interface CleanStop {
  ledger: LedgerSnapshot;
  cursors: readonly ChainCursor[];
}

/** State left by the last owner. */
export interface Opening {
  /** Number of this ownership; other stores of this LP write only while it is the newest. */
  epoch: number;
  /** By chain id. */
  leases: ReadonlyMap<number, Lease>;
  /** null unless the last stop was clean. Returned once. */
  clean: CleanStop | null;
  /** Awards that are not final, oldest first. */
  awards: readonly LpAward[];
  /** Last values of `putRisk`, by name. */
  risk: ReadonlyMap<string, unknown>;
  /** Last value of `putCurves`; null when there is none. */
  curves: unknown;
}

/** State for a joining replica. There is no clean stop to restore: holds are in the shared inventory. */
export interface Joining extends Opening {
  clean: null;
  /** Names the period in which every hold of this LP went through the shared inventory. */
  generation: string;
}

/** Leadership among replicas, as last read. */
export interface Leadership {
  /** This replica leads and may write what only the leader writes. */
  mine: boolean;
  /** Some replica leads, perhaps this one. */
  taken: boolean;
  /** A process that runs the LP alone has taken over from all replicas. */
  over: boolean;
}

/**
 * All throw `UpstreamError` when the database does not answer. Writes return false, and write nothing, once
 * another process has taken over. After `join`, leases and risk values (except the kill switch, which is
 * shared) belong to this replica, any replica may insert an award, and only the leader writes the rest.
 */
export interface LpStore {
  /** Takes ownership from any earlier owner. All leases count as unclean until `stop`. */
  open(): Promise<Opening>;
  /**
   * Joins as one of several replicas. Takes over from a process that ran the LP alone, but not from other
   * replicas.
   */
  join(replica: string): Promise<Joining>;
  /** Takes or extends leadership for `leaseMs` when no other replica holds it. */
  lead(leaseMs: number): Promise<Leadership>;
  /** Epoch of this replica's leadership, for other stores behind the same fence. */
  epoch(): number;
  /** By chain id, the latest time up to which any process of this LP may have signed. */
  signedUpTo(): Promise<ReadonlyMap<number, UnixSeconds>>;
  /** Open awards except `known`, oldest first, limited in number. */
  awardsBut(known: readonly Bytes32[]): Promise<LpAward[]>;
  writeLease(chainId: number, lease: Lease): Promise<boolean>;
  /** Inserts or updates by orderId. */
  putAward(award: LpAward): Promise<boolean>;
  /** State that a risk control must keep across a crash (a kill switch, a loss), as JSON. */
  putRisk(name: string, value: object): Promise<boolean>;
  /** The kill switch shared by all replicas: adds these reasons, or with null clears all. */
  sayKill(word: Readonly<Record<string, string>> | null): Promise<boolean>;
  /** Current reasons of the kill switch, by source. */
  killSaid(): Promise<unknown>;
  /** Learned win-rate curves, as the text of a JSON object. */
  putCurves(json: string): Promise<boolean>;
  award(orderId: Bytes32): Promise<LpAward | undefined>;
  /** Newest first. */
  listAwards(limit: number): Promise<LpAward[]>;
  /**
   * Writes a clean stop in one transaction: ledger, cursors, all leases marked clean. A replica only gives up
   * its leadership.
   */
  stop(clean: { ledger: SnapshotChunks; cursors: readonly ChainCursor[] }): Promise<boolean>;
  ping(): Promise<void>;
  close(): Promise<void>;
}
