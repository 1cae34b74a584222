/** The venue's keys, workspaces, solvers, orders, facts and events. */

import type { SignedCommitment } from '../../domain/commitment.ts';
import type { Fact, RecordedFact } from '../../domain/fact.ts';
import type { Address, Bytes32, Hex } from '../../domain/hex.ts';
import type { StandardOrder } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { RouteKind } from '../route-venue.ts';
import type { Screened } from '../screening.ts';
import type { TravelRuleDuty } from './travel-rule.ts';

export type KeyKind = 'service' | 'workspace' | 'solver';
export type KeyMode = 'test' | 'live';
export type Role = 'owner' | 'admin' | 'member' | 'viewer';

/** The text is shown once and stored only as a SHA-256. */
export interface ApiKey {
  id: string;
  kind: KeyKind;
  mode: KeyMode;
  workspaceId: string | null;
  /** Workspace keys only. */
  role: Role | null;
  /** The key ends with the membership. */
  memberId: string | null;
  /** Solver keys only. */
  solverId: string | null;
  /** First characters after the prefix. */
  lookup: string;
  /** Lower-case hex, of the whole key text. */
  sha256: string;
  label: string;
  createdAtMs: number;
  revokedAtMs: number | null;
}

export interface Workspace {
  id: string;
  name: string;
  platformFeeBps: number;
  /** null: every onboarded solver. */
  eligibleSolvers: readonly string[] | null;
  /** Live, unsubmitted quotes per key, by count and by notional in USD; null: the venue's default. */
  limits: { openQuotes: number | null; openNotionalUsd: number | null };
  /** Orders from this many USD on are reported; null: none. */
  travelRuleThresholdUsd: number | null;
}

export interface SolverRecord {
  id: string;
  name: string;
  kind: 'lp' | 'solver';
  /** null: all. */
  corridors: readonly string[] | null;
  disabled: boolean;
  firstSeenAtMs: number | null;
  lastQuoteAtMs: number | null;
}

export type RosterStatus = 'active' | 'standby' | 'offline';

export interface RosterTransition {
  solverId: string;
  from: RosterStatus;
  to: RosterStatus;
  reason: string;
  atMs: number;
}

/** Says how an order without commitments is settled. */
export interface OrderRoute {
  venueId: string;
  kind: RouteKind;
  /** Arguments of `settleThrough`; null when the venue fills from its own account. */
  through: { filler: Address; data: Hex } | null;
}

/** Never changes after acceptance. */
export interface NewOrder {
  /** It is the public order id, too. */
  orderId: Bytes32;
  quoteId: Bytes32;
  workspaceId: string;
  keyId: string;
  memberId: string | null;
  namespace: 'rfq' | 'router';
  mode: KeyMode;
  executionMode: 'apiSubmit' | 'walletBroadcast';
  originChainId: number;
  destChainIds: readonly number[];
  order: StandardOrder;
  validUntil: UnixSeconds;
  /** One per output, in order; empty with a `route`. */
  commitments: readonly SignedCommitment[];
  /** null: the LPs that committed fill it. */
  route: OrderRoute | null;
  /** The leg whose output is this order's input. */
  parentOrderId: Bytes32 | null;
  solverIds: readonly string[];
  signature: Hex;
  signScheme: 'EIP712' | 'EIP1271';
  /** The signature argument of openFor or settle: a mode byte and its data. */
  funding: Hex;
  candidate: string;
  referenceId: string | null;
  amountUsd: number | null;
  /** The result of screening at acceptance; null on orders older than screening. */
  screening: Screened | null;
  /** null: no report is due. */
  travelRule: TravelRuleDuty | null;
  createdAtMs: number;
}

export interface OrderRecord extends NewOrder {
  facts: readonly RecordedFact[];
  updatedAtMs: number;
}

export interface IdempotencyScope {
  workspaceId: string;
  namespace: 'rfq' | 'router';
  mode: KeyMode;
  key: string;
  /** The hash of the request body's canonical JSON. */
  bodySha256: string;
}

export type IdempotencyState =
  | { kind: 'unknown' }
  | { kind: 'in_progress' }
  | { kind: 'reused' }
  | { kind: 'done'; orderId: Bytes32; response: string };

export type Acceptance =
  | { kind: 'accepted'; response: string }
  /** Same account, candidate and signature. */
  | { kind: 'replayed'; response: string }
  | { kind: 'in_progress' }
  | { kind: 'idempotency_key_reuse' }
  | { kind: 'quote_already_used' }
  /** Another order for this leg is open or settled. */
  | { kind: 'leg_taken' }
  | { kind: 'nonce_used' };

export interface OrderEvent {
  orderId: Bytes32;
  /** 1, 2, 3 … per order. */
  seq: number;
  type: 'order.created' | 'order.settled' | 'order.failed';
  occurredAtMs: number;
}

export interface PlacedEvent extends OrderEvent {
  /** Rising. No new event appears before a position that was read. */
  place: number;
  workspaceId: string;
  mode: KeyMode;
}

/** JSON payload of the bus topic `orders`. */
export interface OrderNews {
  orderId: Bytes32;
  workspaceId: string;
  mode: KeyMode;
  event: OrderEvent['type'] | null;
}

export interface AppendOutcome {
  status: 'pending' | 'settled' | 'failed';
  /** Settled, refunded, or failed with nothing escrowed. */
  final: boolean;
  event: 'order.settled' | 'order.failed' | null;
  atMs: number;
}

/** A temporary exclusive right to work on an order. A stale fence writes nothing. */
export interface Claim {
  orderId: Bytes32;
  fence: bigint;
  leaseUntilMs: number;
}

export interface KeyStore {
  findKey(lookup: string): Promise<ApiKey[]>;
  addKey(key: ApiKey): Promise<void>;
  revokeKey(id: string, atMs: number): Promise<boolean>;
  /** Returns the ids that exist and are not revoked. */
  liveKeys(ids: readonly string[]): Promise<string[]>;
  listKeys(): Promise<ApiKey[]>;
}

export interface TicketStore {
  /** Returns when the ticket expires, in Unix ms. */
  addTicket(ticket: { sha256: string; keyId: string; lifeMs: number }): Promise<number>;
  /** Spends the ticket: of all calls, at most one gets its key. */
  useTicket(
    sha256: string,
  ): Promise<{ kind: 'fresh'; key: ApiKey } | { kind: 'used' | 'expired' | 'unknown' }>;
}

export interface WorkspaceStore {
  workspace(id: string): Promise<Workspace | undefined>;
  putWorkspace(workspace: Workspace): Promise<void>;
  listWorkspaces(): Promise<Workspace[]>;
}

export interface SolverStore {
  listSolvers(): Promise<SolverRecord[]>;
  putSolver(solver: Omit<SolverRecord, 'firstSeenAtMs' | 'lastQuoteAtMs'>): Promise<void>;
  solverSeen(id: string, atMs: number): Promise<void>;
  solverQuoted(id: string, atMs: number): Promise<void>;
  addTransition(transition: RosterTransition): Promise<void>;
}

export interface OrderStore {
  idempotency(scope: IdempotencyScope): Promise<IdempotencyState>;
  /**
   * Stores an order in one transaction. It is unique on orderId, quoteId and (chain, user, nonce). Resolves
   * after commit.
   */
  accept(order: NewOrder, response: string, idempotency: IdempotencyScope | null): Promise<Acceptance>;
  order(orderId: Bytes32): Promise<OrderRecord | undefined>;
  /** Returns the order that used a nonce. At most one order is accepted per nonce of a taker on a chain. */
  orderOfNonce(originChainId: number, taker: Address, nonce: bigint): Promise<OrderRecord | undefined>;
  /** Returns the orders that spend this order's output, oldest first. At most one of them is not failed. */
  nextLegs(parentOrderId: Bytes32): Promise<OrderRecord[]>;
  /** Returns orders that are not final, oldest first. */
  openOrders(limit: number, after?: { createdAtMs: number; orderId: Bytes32 }): Promise<OrderRecord[]>;
  openOrdersOf(solverId: string): Promise<OrderRecord[]>;
  /** Returns the ids of open orders that no worker holds. */
  unclaimed(orderIds: readonly Bytes32[]): Promise<Bytes32[]>;
  /** Claims the open orders that no worker holds; with chains, only those that originate there. */
  claim(
    orderIds: readonly Bytes32[],
    owner: string,
    leaseMs: number,
    originChainIds?: readonly number[],
  ): Promise<Claim[]>;
  renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]>;
  release(claims: readonly Claim[]): Promise<void>;
  /**
   * One transaction, with status, event, trade history and announcement (`OrderNews`). false, and nothing
   * written, when the fence is stale or `before` is outdated.
   */
  append(
    claim: Claim,
    before: Pick<OrderRecord, 'order' | 'facts'>,
    facts: readonly Fact[],
    outcome: AppendOutcome,
  ): Promise<boolean>;
  events(orderId: Bytes32): Promise<OrderEvent[]>;
}

export interface EventStore {
  /** Gives every committed event a position. Returns the last one; 0 when there is none. */
  placeEvents(): Promise<number>;
  eventsAfter(
    place: number,
    limit: number,
    of?: { workspaceId: string; mode: KeyMode },
  ): Promise<PlacedEvent[]>;
  ordersWith(orderIds: readonly Bytes32[]): Promise<ReadonlyMap<Bytes32, OrderRecord>>;
}
