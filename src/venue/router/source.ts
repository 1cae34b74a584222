/**
 * A source of the router: asked to quote one pair, it answers with orders that a taker can sign now. Solvers
 * are one source (`rfq.ts`), each route venue is another (`venue-source.ts`).
 */

import type { Ranked } from '../../auction/rank.ts';
import type { Asset } from '../../domain/asset.ts';
import type { SignedCommitment } from '../../domain/commitment.ts';
import type { StandardOrder } from '../../domain/order.ts';
import type { RoutePair } from '../../ports/route-venue.ts';
import type { ProductUnavailable } from '../../protocol/api/quote.ts';
import type { Leg, SealedRoute } from '../../protocol/api/router.ts';
import type { Landing } from '../quoting/relay-fee.ts';
import type { PairRequest } from '../quoting/rfq-source.ts';

export interface RouteLeg {
  kind: Leg['kind'];
  solverId: string;
  venue: string;
  chainId: number;
  input: { asset: Asset; amount: bigint };
  /** `minimum`: what the escrow enforces; null while the output is not firm. */
  output: { asset: Asset; amount: bigint; minimum: bigint | null };
  eta: number | null;
  /** Indices of legs that must come first. */
  dependsOn: readonly number[];
}

/** One order, ready to be signed. */
export interface RouteOffer extends Ranked {
  /** Id of the source. */
  source: string;
  solverId: string;
  order: StandardOrder;
  /** What the escrow enforces, all outputs together. */
  minimumOutput: bigint;
  landing: Landing;
  commitments: readonly SignedCommitment[];
  settledBy: Pick<SealedRoute, 'venue' | 'through'> | null;
  lpSpreadBps: number | null;
  /** Several when the order is split or passes through several pools. */
  legs: readonly RouteLeg[];
  /** The trade takes more than half of what an LP holds. */
  thin: boolean;
  underWatch: boolean;
  /** Whether the liquidity is still there. Check it right before `recordExposure`. */
  isStillBacked(): boolean;
  /** Counts the offer as promised to a taker. */
  recordExposure(): void;
}

export interface Found {
  /** Unsorted. */
  offers: readonly RouteOffer[];
  /** Why there are no offers. */
  why: ProductUnavailable | null;
}

export interface RouteSource {
  readonly id: string;
  readonly kind: Leg['kind'];
  /** Whether to ask for this pair on behalf of the request's taker and workspace. Answers from memory. */
  serves(intent: PairRequest, pair: RoutePair): boolean;
  /**
   * Orders that share `nonce`. Never rejects; answers within `withinMs`, or sooner once `signal` is aborted.
   */
  find(intent: PairRequest, nonce: bigint, withinMs: number, signal: AbortSignal): Promise<Found>;
}

export const pairOf = ({ input, output }: Pick<PairRequest, 'input' | 'output'>): RoutePair => ({
  input: { chainId: input.chain.id, token: input.token.address },
  output: { chainId: output.chain.id, token: output.token.address },
});
