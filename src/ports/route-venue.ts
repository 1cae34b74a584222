/**
 * A route venue (DEX, bridge, issuer or fiat rail) that the router asks for a price next to the LPs. Its
 * quote becomes an escrow-v0 order that the taker signs, executed in one of two ways. `through` (same
 * chain): `settleThrough` hands the input, less fees, to a filler contract, which fills every output in
 * the same transaction or reverts. It is retried until its fillDeadline and is then `failed`. `solver`
 * (any corridor): the input waits in escrow, and the venue's account fills the order like an LP. Anyone
 * may then finalise it; the input, less fees, is credited to that account. Unfilled orders are refunded
 * after `expires`, by anyone. A venue never receives the taker's money before the escrow has seen or
 * enforces the delivery.
 */

import type { Chain, TokenInfo } from '../domain/chain.ts';
import type { Closed, Decline } from '../domain/decline.ts';
import type { Address, Bytes32, Hex } from '../domain/hex.ts';
import type { StandardOrder } from '../domain/order.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { Block } from './chain.ts';
import type { PayoutDesk } from './payouts.ts';

export const ROUTE_KINDS = ['dex', 'bridge', 'issuer', 'fiat'] as const;
export type RouteKind = (typeof ROUTE_KINDS)[number];

export interface RouteVenue {
  /** Public: `solverId` and `venue` of its candidates, and its roster id. Never reused. */
  readonly id: string;
  readonly name: string;
  readonly kind: RouteKind;
  readonly limits: RouteLimits;
  /** Reads memory only; never throws. */
  serves(pair: RoutePair): boolean;
  /**
   * Returns why the venue quotes nothing at all now, for the roster; undefined while it quotes. Reads memory
   * only. The router goes by the answers of `quote` as well.
   */
  standing?(): Closed | { declined: 'standby'; detail: string } | undefined;
  /**
   * The price at the pinned blocks; equal asks get equal answers. A rejection, a late answer, or one that
   * breaks a rule counts against the venue; too many suspend it for a while. A `Decline` does not, nor does
   * `Closed`.
   */
  quote(ask: RouteAsk): Promise<RouteQuote | Decline | Closed>;
  /**
   * Called with a quote that the taker is about to see, before it is sealed. true: the venue keeps what it
   * takes to deliver until `validUntil`, whatever its other processes promise. false: it cannot any more, and
   * the router drops the quote. Quotes that nobody sees are not promised.
   */
  promise?(promise: RoutePromise): Promise<boolean>;
  /**
   * Delivers an order of a `solver` quote that is final on its origin: fill these outputs from the quoted
   * account. The venue calls it until the fills are seen, possibly from two workers and after any crash, so
   * check the chain first and never pay twice (a second `fill` delivers nothing). Reject to be called again.
   * Never called at or after the fillDeadline.
   */
  deliver?(delivery: RouteDelivery): Promise<void>;
  /** Payouts that a taker may choose after a delivery. No order settles by one. */
  readonly payouts?: PayoutDesk;
}

export const ROUTE_VENUE_ID = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

export interface RouteLimits {
  /** The router waits this long, within its own deadline. */
  timeoutMs: number;
  /** The router skips the venue beyond this many concurrent asks. */
  maxInFlight: number;
  /** The most by which `minimumOutput` may be below `outputAmount`; answers beyond it are ignored. */
  maxSlackBps: number;
}

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
   * The amount of the fixed side in base units: what the taker escrows, fees included, or what the receiver
   * gets.
   */
  amount: bigint;
  taker: Address;
  receiver: Address;
  /** The pinned blocks. On one chain both are the same. */
  at: { origin: Block; dest: Block };
  /** Range of `validUntil`, inclusive; chain time of the origin. */
  validity: { from: UnixSeconds; to: UnixSeconds };
  fees: RouteFees;
  signal: AbortSignal;
}

/** Platform and relay fees, taken from the input before it is handed over. `gas` as in the execution. */
export interface RouteFees {
  /** Base units; 0n when the fees are the whole input or more. */
  handedOver(input: bigint, gas: bigint): bigint;
  /** The smallest input of which at least `handed` arrives. */
  inputFor(handed: bigint, gas: bigint): bigint;
}

export interface RouteQuote {
  /** Equals `ask.amount` on exactInput. */
  inputAmount: bigint;
  /** The output at the state of the pinned blocks; equals `ask.amount` on exactOutput. */
  outputAmount: bigint;
  /**
   * Enforced by the escrow; at most `outputAmount`, and equal on exactOutput. A surplus goes to the
   * receiver.
   */
  minimumOutput: bigint;
  /** Last second in which the taker may submit. */
  validUntil: UnixSeconds;
  /** Seconds from submission to delivery. */
  eta: number | null;
  /** Intermediate tokens and amounts; three at most. For display. */
  via: readonly { token: Address; amount: bigint }[];
  /**
   * The venue's fee of each leg, one more than `via` has stops; already part of the amounts. null: the venue
   * charges by its price, or does not say. For display.
   */
  fees: readonly (VenueFee | null)[];
  execution: RouteExecution;
}

/** The fee of one leg, in base units of its input or output, rounded up where it is no whole number. */
export interface VenueFee {
  in: 'input' | 'output';
  amount: bigint;
}

type RouteExecution =
  /** Same chain only. `gas` is the limit of `fillThrough`. `data` is public and untrusted. */
  | { kind: 'through'; filler: Address; data: Hex; gas: bigint }
  /** The account whose fills count. `fees` are computed with gas 0n. */
  | { kind: 'solver'; account: Address };

export interface RoutePromise {
  ask: RouteAsk;
  quote: RouteQuote;
  /** The order's nonce. Of all orders with one nonce of a taker on a chain, at most one is accepted. */
  nonce: bigint;
}

export interface RouteDelivery {
  orderId: Bytes32;
  order: StandardOrder;
  /** Indices of the unfilled outputs. */
  outputs: readonly number[];
}
