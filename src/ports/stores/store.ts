/**
 * What the venue must never forget: keys, workspaces, solvers, orders with their facts and events. One
 * PostgreSQL realises it.
 */

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

/** An API key without its text: that is shown once and kept only as a SHA-256. */
export interface ApiKey {
  id: string;
  kind: KeyKind;
  mode: KeyMode;
  workspaceId: string | null;
  /** Workspace keys only. */
  role: Role | null;
  /** Whose key it is: what it does is that member's doing, and it ends with the membership. */
  memberId: string | null;
  /** Solver keys only. */
  solverId: string | null;
  /** First characters after the prefix: finds the row without revealing the key. */
  lookup: string;
  /** Lower-case hex of SHA-256 over the whole key text. */
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
  /**
   * Open (live, unsubmitted) quotes per key at most, by count and by reserved notional in USD; null: the
   * venue's default.
   */
  limits: { openQuotes: number | null; openNotionalUsd: number | null };
  /** Orders of this much or more are reported under the travel rule, in USD; null: none is. */
  travelRuleThresholdUsd: number | null;
}

export interface SolverRecord {
  id: string;
  name: string;
  kind: 'lp' | 'solver';
  /** Corridors it may quote; null: all. */
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

/** Who settles an order that no LP has committed to, and how. */
export interface OrderRoute {
  /** Id of the route venue. */
  venueId: string;
  kind: RouteKind;
  /** `settleThrough`'s last two arguments; null when the venue fills from an account of its own. */
  through: { filler: Address; data: Hex } | null;
}

/** Everything known of an order at the moment it was accepted. Never changes afterwards. */
export interface NewOrder {
  /** On-chain orderId; also the public order id. */
  orderId: Bytes32;
  quoteId: Bytes32;
  workspaceId: string;
  keyId: string;
  /** Of the key that submitted it. */
  memberId: string | null;
  namespace: 'rfq' | 'router';
  mode: KeyMode;
  executionMode: 'apiSubmit' | 'walletBroadcast';
  originChainId: number;
  /** Chains of the outputs, without repetition. */
  destChainIds: readonly number[];
  order: StandardOrder;
  validUntil: UnixSeconds;
  /** One per output, in order; none on an order with a `route`. */
  commitments: readonly SignedCommitment[];
  /** null: from the inventory of the LPs that committed. */
  route: OrderRoute | null;
  /** The order that delivered this one's input: an earlier leg of the same route. */
  parentOrderId: Bytes32 | null;
  solverIds: readonly string[];
  signature: Hex;
  signScheme: 'EIP712' | 'EIP1271';
  /** `signature` argument of openFor/settle: mode byte and its data. */
  funding: Hex;
  /** The candidate exactly as it was submitted, JSON. */
  candidate: string;
  referenceId: string | null;
  amountUsd: number | null;
  /** What the screeners said of taker and receiver at this moment; null on orders older than screening. */
  screening: Screened | null;
  /** null: nothing has to be transmitted about this order. */
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
  /** SHA-256 of the request body's canonical JSON. */
  bodySha256: string;
}

export type IdempotencyState =
  | { kind: 'unknown' }
  | { kind: 'in_progress' }
  | { kind: 'reused' }
  | { kind: 'done'; orderId: Bytes32; response: string };

export type Acceptance =
  | { kind: 'accepted'; response: string }
  /** The same account submitted the same candidate with the same signature before. */
  | { kind: 'replayed'; response: string }
  | { kind: 'in_progress' }
  | { kind: 'idempotency_key_reuse' }
  | { kind: 'quote_already_used' }
  /** The leg after this parent is under way or done already, as another order. */
  | { kind: 'leg_taken' }
  | { kind: 'nonce_used' };

export interface OrderEvent {
  orderId: Bytes32;
  /** 1, 2, 3 … per order. */
  seq: number;
  type: 'order.created' | 'order.settled' | 'order.failed';
  occurredAtMs: number;
}

/** An event at its place in the one stream of all of them. */
export interface PlacedEvent extends OrderEvent {
  /** Rising; once a place was seen, nothing new ever appears before it. */
  place: number;
  workspaceId: string;
  mode: KeyMode;
}

/**
 * Payload of the bus topic `orders`, as JSON: this order has new facts, and perhaps an event; read it to
 * learn which.
 */
export interface OrderNews {
  orderId: Bytes32;
  workspaceId: string;
  mode: KeyMode;
  event: OrderEvent['type'] | null;
}

/** Where an order stands after an append. */
export interface Outcome {
  status: 'pending' | 'settled' | 'failed';
  /** Nothing is left to be done: settled, refunded, or failed with nothing escrowed. */
  final: boolean;
  event: 'order.settled' | 'order.failed' | null;
  atMs: number;
}

/**
 * The right to work on an order for a while; every write carries the fence and a stale one writes nothing.
 */
export interface Claim {
  orderId: Bytes32;
  fence: bigint;
  leaseUntilMs: number;
}

export interface KeyStore {
  findKey(lookup: string): Promise<ApiKey[]>;
  addKey(key: ApiKey): Promise<void>;
  revokeKey(id: string, atMs: number): Promise<boolean>;
  /** Those of these ids whose key exists and has not been revoked. */
  liveKeys(ids: readonly string[]): Promise<string[]>;
  listKeys(): Promise<ApiKey[]>;
}

export interface WorkspaceStore {
  workspace(id: string): Promise<Workspace | undefined>;
  putWorkspace(workspace: Workspace): Promise<void>;
  listWorkspaces(): Promise<Workspace[]>;
}

export interface SolverStore {
  listSolvers(): Promise<SolverRecord[]>;
  putSolver(solver: Omit<SolverRecord, 'firstSeenAtMs' | 'lastQuoteAtMs'>): Promise<void>;
  /** Sets firstSeen unless an earlier one stands. */
  solverSeen(id: string, atMs: number): Promise<void>;
  solverQuoted(id: string, atMs: number): Promise<void>;
  addTransition(transition: RosterTransition): Promise<void>;
}

export interface OrderStore {
  idempotency(scope: IdempotencyScope): Promise<IdempotencyState>;
  /**
   * One transaction: order, fact `accepted`, event `order.created`, first travel-rule record where one is
   * due, idempotency row. Unique on orderId, quoteId and (chain, user, nonce). Replies only after commit.
   */
  accept(order: NewOrder, response: string, idempotency: IdempotencyScope | null): Promise<Acceptance>;
  order(orderId: Bytes32): Promise<OrderRecord | undefined>;
  /** The orders whose parent this is, oldest first. At most one of them is not failed. */
  nextLegs(parentOrderId: Bytes32): Promise<OrderRecord[]>;
  /** Orders whose stage is not terminal, oldest first. */
  openOrders(limit: number, after?: { createdAtMs: number; orderId: Bytes32 }): Promise<OrderRecord[]>;
  /** Orders, open or not yet final, in which this solver has a slice. */
  openOrdersOf(solverId: string): Promise<OrderRecord[]>;
  /**
   * Claims those of these orders that are open and that nobody else holds; where chains are named, those that
   * begin on one of them.
   */
  claim(
    orderIds: readonly Bytes32[],
    owner: string,
    leaseMs: number,
    originChainIds?: readonly number[],
  ): Promise<Claim[]>;
  /** Prolongs; answers with the claims that are still ours. */
  renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]>;
  release(claims: readonly Claim[]): Promise<void>;
  /**
   * Appends facts after those of `before`, the status and an event when given, moves the order's trade in
   * history with them, in one transaction, and announces them (`OrderNews`) on the bus topic `orders`. false
   * (and nothing written) when the fence is stale or `before` is no longer all there is.
   */
  append(
    claim: Claim,
    before: Pick<OrderRecord, 'order' | 'facts'>,
    facts: readonly Fact[],
    outcome: Outcome,
  ): Promise<boolean>;
  events(orderId: Bytes32): Promise<OrderEvent[]>;
}

export interface EventStore {
  /**
   * Gives every committed event without a place one, and answers with the last place of all; 0 when there is
   * no event.
   */
  placeEvents(): Promise<number>;
  /** Events beyond a place, in order; of one workspace and mode when named. */
  eventsAfter(
    place: number,
    limit: number,
    of?: { workspaceId: string; mode: KeyMode },
  ): Promise<PlacedEvent[]>;
  ordersWith(orderIds: readonly Bytes32[]): Promise<ReadonlyMap<Bytes32, OrderRecord>>;
}
