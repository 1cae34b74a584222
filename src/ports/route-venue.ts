/**
 * A venue besides the RFQ one: a DEX, a bridge, an issuer, a fiat rail. The router asks it for a price, the
 * escrow makes it keep the floor.
 *
 * Whatever a venue offers is an escrow-v0 order that the taker signs, and it executes in one of two ways:
 * - `through` (one chain): `settleThrough(order, funding, filler, data)` hands the input, less fees, to the
 *   filler contract, which fills every
 *   output within the same transaction, or everything reverts and the taker has lost nothing.
 * - `solver` (any corridor): the order is opened, the input waits in escrow, and the venue's own account
 *   fills it on the destination like any LP.
 *   Proof and payout go the same way as an LP's: anybody finalises, the input less fees is credited to the
 *   account in the origin's ledger.
 *
 * Failure and refund. A `through` order that reverts is tried again until its fillDeadline; then it is
 * `failed` and nothing was ever taken. A `solver` order that is not filled by its fillDeadline is refunded to
 * the taker once `expires` has passed, by the keeper or by anybody. There is no third way: a venue never
 * receives the taker's money before the escrow has seen, or enforces in the same transaction, the delivery.
 */

import type { Chain, TokenInfo } from '../domain/chain.ts';
import type { Decline } from '../domain/decline.ts';
import type { Address, Bytes32, Hex } from '../domain/hex.ts';
import type { StandardOrder } from '../domain/order.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { Block } from './chain.ts';

export const ROUTE_KINDS = ['dex', 'bridge', 'issuer', 'fiat'] as const;
export type RouteKind = (typeof ROUTE_KINDS)[number];

export interface RouteVenue {
  /**
   * Public: `solverId` and `venue` of its candidates, and its id in the roster. Matches `ROUTE_VENUE_ID`;
   * never reused, because orders name it.
   */
  readonly id: string;
  readonly name: string;
  readonly kind: RouteKind;
  readonly limits: RouteLimits;
  /** Is this pair worth asking for? From memory, at once; never throws. */
  serves(pair: RoutePair): boolean;
  /**
   * The price at the pinned blocks of the ask, and at no other state: the same ask has the same answer,
   * however the world has moved on. A `Decline` is the answer when there is none. May reject: a rejection, an
   * answer after the deadline or one that breaks a rule below counts against the venue, and enough of them
   * leave it unasked for a while; nobody else is delayed by it.
   */
  quote(ask: RouteAsk): Promise<RouteQuote | Decline>;
  /**
   * Venues that quote `solver` only. The order is open on its origin at that chain's depth: fill what is
   * named, from the quoted account. Called by a worker, again and again until the fills are seen, possibly by
   * two workers at once and after any crash: it looks at the chain first and never pays twice (the escrow's
   * `fill` delivers nothing the second time). Not called at or after the fillDeadline. Rejects when it could
   * not; it is called again.
   */
  deliver?(delivery: RouteDelivery): Promise<void>;
}

export const ROUTE_VENUE_ID = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

export interface RouteLimits {
  /** The router waits this long for an answer at most, and never beyond its own deadline. */
  timeoutMs: number;
  /** Asks open at once; further ones are not made. */
  maxInFlight: number;
  /** How far `minimumOutput` may lie beneath `outputAmount`. An answer with more slack does not count. */
  maxSlackBps: number;
}

/** Chain ids and token addresses. */
export interface RoutePair {
  input: { chainId: number; token: Address };
  output: { chainId: number; token: Address };
}

export interface RouteAsk {
  origin: Chain;
  dest: Chain;
  inputToken: TokenInfo;
  outputToken: TokenInfo;
  side: 'exactInput' | 'exactOutput';
  /**
   * Base units of the side that is fixed: what the taker escrows, fees included, or what the receiver gets.
   */
  amount: bigint;
  taker: Address;
  receiver: Address;
  /** Blocks to price at; the same one twice on one chain. */
  at: { origin: Block; dest: Block };
  /** `validUntil` of the answer lies within, both ends included. Chain time of the origin. */
  validity: { from: UnixSeconds; to: UnixSeconds };
  fees: RouteFees;
  /** Aborted when nobody waits for the answer any longer. */
  signal: AbortSignal;
}

/**
 * What platform and relayer take out of the input on its way to the filler or the solver account; `gas` as in
 * the quote's execution.
 */
export interface RouteFees {
  /** Base units of the input that arrive; 0n when the fees are all of it or more. */
  handedOver(input: bigint, gas: bigint): bigint;
  /** The least input of which at least this much arrives. */
  inputFor(handed: bigint, gas: bigint): bigint;
}

export interface RouteQuote {
  /** What the taker escrows, base units; `ask.amount` on exactInput. */
  inputAmount: bigint;
  /**
   * What the receiver gets if the state stays as it was at the pinned blocks; `ask.amount` on exactOutput.
   */
  outputAmount: bigint;
  /**
   * What the escrow enforces: the output of the order. At most `outputAmount`, and equal to it on
   * exactOutput. What a filler earns beyond goes to the receiver.
   */
  minimumOutput: bigint;
  /** Last second at which the taker may submit. */
  validUntil: UnixSeconds;
  /** Seconds from submission to delivery, or null. */
  eta: number | null;
  /**
   * What the input becomes on its way, base units at the pinned blocks: one entry per stop between input and
   * output, none on a single hop. For people; three at most.
   */
  via: readonly { token: Address; amount: bigint }[];
  execution: RouteExecution;
}

export type RouteExecution =
  /**
   * One chain only. `gas` is what `fillThrough` may use: the relayer is paid for it on top of the escrow's
   * own part. `data` is public and untrusted.
   */
  | { kind: 'through'; filler: Address; data: Hex; gas: bigint }
  /** The account whose fills count, on both chains. `fees` are computed with gas 0n. */
  | { kind: 'solver'; account: Address };

export interface RouteDelivery {
  orderId: Bytes32;
  order: StandardOrder;
  /** Indices of the outputs that are not filled yet. */
  outputs: readonly number[];
}
