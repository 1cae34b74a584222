/**
 * A route venue: a DEX, bridge, issuer or fiat rail that the router asks for a price next to the LPs.
 *
 * Its quote becomes an escrow-v0 order that the taker signs. There are two ways to execute it:
 * - `through` (same chain): `settleThrough` hands the input, less fees, to a filler contract, which fills
 * every output in the same transaction; otherwise everything reverts and the taker has lost nothing.
 * - `solver` (any corridor): the order is opened, the input waits in escrow, and the venue's own account
 * fills it on the destination like an LP. Anyone may then finalise it; the input, less fees, is credited to
 * that account.
 *
 * A `through` order that reverts is retried until its fillDeadline and is then `failed`; nothing was taken. A
 * `solver` order not filled by its fillDeadline is refunded after `expires`, by anyone. A venue never
 * receives the taker's money before the escrow has seen the delivery, or enforces it in the same transaction.
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
   * Public: `solverId` and `venue` of its candidates, and its roster id. Matches `ROUTE_VENUE_ID`; never
   * reused, because orders name it.
   */
  readonly id: string;
  readonly name: string;
  readonly kind: RouteKind;
  readonly limits: RouteLimits;
  /** Whether to ask for this pair. Reads memory only; never throws. */
  serves(pair: RoutePair): boolean;
  /**
   * The price at the ask's pinned blocks, whatever the current state: equal asks get equal answers. A
   * rejection, an answer after the deadline or one that breaks a rule below counts against the venue, and too
   * many suspend it for a while.
   */
  quote(ask: RouteAsk): Promise<RouteQuote | Decline>;
  /**
   * For venues that quote `solver` only. The order is open and final on its origin: fill the named outputs
   * from the quoted account. A worker calls it repeatedly until the fills are seen, possibly two workers in
   * parallel and after any crash, so check the chain first and never pay twice (a second `fill` delivers
   * nothing). Never called at or after the fillDeadline. Reject to be called again.
   */
  deliver?(delivery: RouteDelivery): Promise<void>;
}

export const ROUTE_VENUE_ID = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

export interface RouteLimits {
  /** How long the router waits for an answer, within its own deadline. */
  timeoutMs: number;
  /** Maximum concurrent asks; the router skips the venue beyond that. */
  maxInFlight: number;
  /** Maximum distance of `minimumOutput` below `outputAmount`; the router ignores answers beyond it. */
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
  /** Base units of the fixed side: what the taker escrows, fees included, or what the receiver gets. */
  amount: bigint;
  taker: Address;
  receiver: Address;
  /** Blocks to price at; on one chain both are the same. */
  at: { origin: Block; dest: Block };
  /** Range of `validUntil`, both ends included. Chain time of the origin. */
  validity: { from: UnixSeconds; to: UnixSeconds };
  fees: RouteFees;
  /** Aborted when the router stops waiting. */
  signal: AbortSignal;
}

/**
 * Platform and relay fees, taken from the input before it reaches the filler or the solver account. `gas` as
 * in the quote's execution.
 */
export interface RouteFees {
  /** Base units of the input that arrive; 0n when the fees are the whole input or more. */
  handedOver(input: bigint, gas: bigint): bigint;
  /** The smallest input of which at least `handed` arrives. */
  inputFor(handed: bigint, gas: bigint): bigint;
}

export interface RouteQuote {
  /** What the taker escrows, base units; equals `ask.amount` on exactInput. */
  inputAmount: bigint;
  /** What the receiver gets at the state of the pinned blocks; equals `ask.amount` on exactOutput. */
  outputAmount: bigint;
  /**
   * The order's output, which the escrow enforces. At most `outputAmount`; equal to it on exactOutput. Any
   * surplus goes to the receiver.
   */
  minimumOutput: bigint;
  /** Last second in which the taker may submit. */
  validUntil: UnixSeconds;
  /** Seconds from submission to delivery; null when not known. */
  eta: number | null;
  /**
   * Intermediate tokens and amounts (base units at the pinned blocks); empty on a single hop, three at most.
   * For display.
   */
  via: readonly { token: Address; amount: bigint }[];
  execution: RouteExecution;
}

export type RouteExecution =
  /**
   * Same chain only. `gas` is the limit for `fillThrough`; the relayer is paid for it. `data` is public and
   * untrusted.
   */
  | { kind: 'through'; filler: Address; data: Hex; gas: bigint }
  /** The account whose fills count, on both chains. `fees` are computed with gas 0n. */
  | { kind: 'solver'; account: Address };

export interface RouteDelivery {
  orderId: Bytes32;
  order: StandardOrder;
  /** Indices of the unfilled outputs. */
  outputs: readonly number[];
}
