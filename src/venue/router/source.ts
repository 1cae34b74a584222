/**
 * A source of the router answers with orders that a taker can sign: the solvers (`rfq.ts`), or one route
 * venue (`venue-source.ts`).
 */

import type { Ranked } from '../../auction/rank.ts';
import type { Asset } from '../../domain/asset.ts';
import type { SignedCommitment } from '../../domain/commitment.ts';
import type { StandardOrder } from '../../domain/order.ts';
import type { RoutePair, VenueFee } from '../../ports/route-venue.ts';
import type { ProductUnavailable } from '../../protocol/api/quote.ts';
import type { Leg, SealedRoute } from '../../protocol/api/router.ts';
import type { RelayTerms } from '../quoting/relay-fee.ts';
import type { PairRequest } from '../quoting/solver-request.ts';

export interface RouteLeg {
  kind: Leg['kind'];
  solverId: string;
  venue: string;
  chainId: number;
  input: { asset: Asset; amount: bigint };
  /** `minimum`: what the escrow enforces; null while not firm. */
  output: { asset: Asset; amount: bigint; minimum: bigint | null };
  /** The fees of its venue, already part of the amounts; null: not told apart from the price. */
  fee: VenueFee | null;
  eta: number | null;
  /** Indices of legs that come first. */
  dependsOn: readonly number[];
}

/** One order, ready to be signed. */
export interface RouteOffer extends Ranked {
  source: string;
  solverId: string;
  order: StandardOrder;
  minimumOutput: bigint;
  relayTerms: RelayTerms;
  commitments: readonly SignedCommitment[];
  settledBy: Pick<SealedRoute, 'venue' | 'through'> | null;
  lpSpreadBps: number | null;
  legs: readonly RouteLeg[];
  thin: boolean;
  underWatch: boolean;
  /** Returns whether its source keeps it from now on. Called once, before `recordPromise`. Never rejects. */
  promise(): Promise<boolean>;
  /** Check right before `recordPromise`. */
  isStillBacked(): boolean;
  recordPromise(): void;
}

export interface Found {
  offers: readonly RouteOffer[];
  why: ProductUnavailable | null;
  /** `why` says when a closed rail opens. */
  isClosed?: boolean;
}

export interface RouteSource {
  readonly id: string;
  readonly kind: Leg['kind'];
  /** Reads memory only. */
  serves(intent: PairRequest, pair: RoutePair): boolean;
  /** Never rejects; answers within `withinMs`, or sooner once `signal` is aborted. */
  find(intent: PairRequest, nonce: bigint, withinMs: number, signal: AbortSignal): Promise<Found>;
}

export const pairOf = ({ input, output }: Pick<PairRequest, 'input' | 'output'>): RoutePair => ({
  input: { chainId: input.chain.id, token: input.token.address },
  output: { chainId: output.chain.id, token: output.token.address },
});
