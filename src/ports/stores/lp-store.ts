/**
 * Stores what an LP must not lose: awards, the times up to which it may have signed, and its ledger after a
 * clean stop. A replaced owner can no longer write.
 */

import type { SignedCommitment } from '../../domain/commitment.ts';
import type { Bytes32, Hex } from '../../domain/hex.ts';
import type { StandardOrder } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Lease } from '../../inventory/lease.ts';
import type { LedgerSnapshot, SnapshotChunks } from '../../inventory/snapshot.ts';
import type { PriceSignal } from '../../pricing/price-inputs.ts';

/** `committed` and `filled` are open. */
export type AwardStage = 'committed' | 'filled' | 'finalised' | 'failed';

export interface LpAward {
  orderId: Bytes32;
  quoteId: Bytes32;
  order: StandardOrder;
  /** The index of our output. */
  outputIndex: number;
  /** Ours, as evidence; null when we learned of the order from the chain. */
  commitment: SignedCommitment | null;
  stage: AwardStage;
  /** The fill on another chain. Attesters sign its block time, and the claim repeats it. */
  fill: { timestamp: UnixSeconds; txHash: Hex; blockNumber: bigint } | null;
  /** Says why the award failed, or what it waits for. */
  note: string | null;
  acceptedAtMs: number;
  updatedAtMs: number;
}

/** The operator's expectation of a pair for a while. */
export interface LpSignal extends PriceSignal {
  readonly pair: string;
  /** The LP buys or sells the base; null: both. */
  readonly side: 'buy' | 'sell' | null;
  readonly expiresAtMs: number;
  readonly setAtMs: number;
  readonly by: string;
  readonly note: string | null;
}

/** The last block of a chain whose events are all in the ledger. */
export interface ChainCursor {
  chainId: number;
  block: bigint;
  hash: Hex;
}

export interface CleanStop {
  ledger: LedgerSnapshot;
  cursors: readonly ChainCursor[];
}

export interface Opening {
  /** Other stores of this LP write only while it is the newest. */
  epoch: number;
  /** The leases by chain id. */
  leases: ReadonlyMap<number, Lease>;
  /** null unless the last stop was clean. Returned once. */
  clean: CleanStop | null;
  /** Awards that are not final, oldest first. */
  awards: readonly LpAward[];
  risk: ReadonlyMap<string, unknown>;
  curves: unknown;
}

/** A replica restores no clean stop: holds are in the shared inventory. */
interface Joining extends Opening {
  clean: null;
  /** Period in which every hold went through the shared inventory. */
  generation: string;
}

interface Leadership {
  mine: boolean;
  /** Some replica leads, perhaps this one. */
  taken: boolean;
  /** A process that runs the LP alone has taken over. */
  over: boolean;
}

/**
 * All throw `UpstreamError` when the database does not answer. Writes return false, and write nothing,
 * once another process has taken over. After `join`, leases and risk values (except the kill switch) are
 * the replica's own; any replica may insert an award or write a signal, only the leader writes the rest.
 */
export interface LpStore {
  /** Takes ownership. All leases count as unclean until `stop`. */
  open(): Promise<Opening>;
  /** Takes over from a process that ran the LP alone, but not from other replicas. */
  join(replica: string): Promise<Joining>;
  /** Takes or extends leadership when no other replica holds it. */
  lead(leaseMs: number): Promise<Leadership>;
  /** Returns the epoch of this replica's leadership, for other stores behind the same fence. */
  epoch(): number;
  /** Returns the latest time up to which any process may have signed, by chain id. */
  signedUpTo(): Promise<ReadonlyMap<number, UnixSeconds>>;
  /** Open awards except `known`, oldest first, limited in number. */
  awardsBut(known: readonly Bytes32[]): Promise<LpAward[]>;
  writeLease(chainId: number, lease: Lease): Promise<boolean>;
  putAward(award: LpAward): Promise<boolean>;
  putRisk(name: string, value: object): Promise<boolean>;
  /** The shared kill switch: adds these reasons, or with null clears all. */
  putKillReasons(reasons: Readonly<Record<string, string>> | null): Promise<boolean>;
  killReasons(): Promise<unknown>;
  /** Shared by all replicas: notes of paused pairs and chains by name, null to end one; null: end all. */
  putPauses(changes: Readonly<Record<string, string | null>> | null): Promise<boolean>;
  pauses(): Promise<Readonly<Record<string, string>>>;
  /** Shared by all replicas. Replaces the signals of its pair that cover the same side. */
  putSignal(signal: LpSignal): Promise<boolean>;
  dropSignals(ids: readonly string[]): Promise<boolean>;
  /** Returns the signals, oldest first. */
  signals(): Promise<LpSignal[]>;
  /** The text of a JSON object. */
  putCurves(json: string): Promise<boolean>;
  award(orderId: Bytes32): Promise<LpAward | undefined>;
  listAwards(limit: number): Promise<LpAward[]>;
  /** One transaction that marks all leases clean. A replica only gives up its leadership. */
  stop(clean: { ledger: SnapshotChunks; cursors: readonly ChainCursor[] }): Promise<boolean>;
  ping(): Promise<void>;
  close(): Promise<void>;
}
