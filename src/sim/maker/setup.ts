/** Types of what a simulated LP is made of, what takers ask it, and what it answers. */

import type { Address } from '../../domain/hex.ts';
import type { Side } from '../../inventory/event.ts';
import type { BucketConfig } from '../../inventory/ledger.ts';
import type { Limits } from '../../inventory/limits.ts';
import type { PricingParams } from '../../pricing/params.ts';
import type { PricingPlugin } from '../../pricing/price-inputs.ts';
import type { Priced } from '../../pricing/price.ts';
import { wholeTokens } from '../../pricing/usd.ts';
import type { BurstRule } from '../../risk/burst.ts';
import type { DrawdownRule } from '../../risk/drawdown.ts';
import type { GapRule } from '../../risk/gap-loss.ts';
import type { RateRule } from '../../risk/rate.ts';
import type { SpikeRule } from '../../risk/regime.ts';
import type { TakerActivityRule } from '../../risk/taker-activity.ts';
import type { SimPlace, SimTransfers } from '../transfers.ts';

export interface SimToken {
  chainId: number;
  token: Address;
  symbol: string;
  decimals: number;
}

export interface SimRoute {
  /** The place of its pair in the LP's list, from 0. */
  pair: number;
  corridor: string;
  sameChain: boolean;
  lp: Side;
  input: SimToken;
  output: SimToken;
  params: PricingParams;
  lockSeconds: number;
  /** Seconds after validUntil for which a quote still binds. */
  landingSeconds: number;
}

export interface SimRisk {
  leastValiditySeconds: number;
  totalBps: number | null;
  volSpike: SpikeRule & { sizeFactor: number; sigmaFactor: number };
  gapLoss: GapRule & { budgetBps: number };
  freeOption: TakerActivityRule & { omegaFactor: number };
  rate: RateRule;
  burst: BurstRule;
  drawdown: DrawdownRule & { sizeFactor: number };
}

/** A market that the LP makes. */
export interface MakerPair {
  base: string;
  quote: string;
  routes: readonly SimRoute[];
  /** Whole base tokens either side of the target; null: the pair's half-band. */
  softBand: number | null;
  hardBand: number | null;
  /** Whole base tokens; null: the starting balance. */
  target: number | null;
  sigmaFloor: number;
}

export interface MakerSetup {
  name: string;
  /**
   * The pairs, at least one. All have the same quote asset, which counts as a dollar, and no two the same
   * base.
   */
  pairs: readonly MakerPair[];
  /** Lists every token on every chain, with its starting balance in base units. */
  buckets: readonly (BucketConfig & { start: bigint })[];
  quoting: {
    validitySeconds: number;
    pointsSeconds: readonly number[];
    maxValiditySeconds: number;
    clockSkewSeconds: number;
  };
  graceSeconds: number;
  limits: Limits;
  risk: SimRisk | null;
  adverseBps: number;
  /** The deviation of its mids from the exchange's. The LP knows it and charges for it. */
  noiseBps: number;
  /** Own gas of a cross-chain trade, USD. */
  gasUsd: number;
  plugin?: PricingPlugin;
  /** The chains' shares of each asset. Absent: the place of inventory neither costs nor bounds anything. */
  places?: ReadonlyMap<string, readonly SimPlace[]>;
  /** Transfers between chains; absent: none. */
  transfers?: SimTransfers;
}

export interface SimRequest {
  id: string;
  taker: string;
  route: SimRoute;
  side: 'exactInput' | 'exactOutput';
  amount: bigint;
  platformFeeBps: number;
  minValidSeconds: number;
}

export interface MakerQuote {
  id: string;
  request: SimRequest;
  atMs: number;
  validUntil: number;
  priced: Priced;
}

/** Times when an accepted quote is filled and when its fill is final, in Unix seconds. */
export interface Steps {
  filled: number;
  finalised: number;
}

export const pairName = ({ base, quote }: Pick<MakerPair, 'base' | 'quote'>): string => `${base}-${quote}`;

/** Converts base units to a float for reports and takers' choices only. */
export const toWholeTokens = (units: bigint, { decimals }: Pick<SimToken, 'decimals'>): number =>
  wholeTokens(units, decimals);

/** Computes the edge in USD at a mid, after the platform fee. */
export function edgeUsd(
  { request: { route }, priced }: Pick<MakerQuote, 'request' | 'priced'>,
  mid: number,
): number {
  const [got, given] = [
    toWholeTokens(priced.received, route.input),
    toWholeTokens(priced.output, route.output),
  ];
  return route.lp === 'buy' ? got * mid - given : got - given * mid;
}
