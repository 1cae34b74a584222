/** The engine of the firm-quote backtest: its parameters, and the spread that they give. */

import { DEFAULT_PARAMS, type PricingParams } from '../pricing/params.ts';
import type { PriceInputs } from '../pricing/price-inputs.ts';
import { spreadInteger, spreadTerms } from '../pricing/spread.ts';
import type { SimWorld } from './world.ts';

export const STRATEGIES = ['fixed', 'symmetric', 'skew', 'full'] as const;
export type Strategy = (typeof STRATEGIES)[number];

export interface FirmSetup {
  strategy: Strategy;
  theta: number;
  validitySeconds: number;
  sigma: number;
  jumpsPerHour: number;
  jumpBps: number;
  alpha: number;
  beta: number;
  costBps: number;
  fixedBps: number;
  capUnits: number;
  gamma: number;
  arrival: number;
  decay: number;
  believed: { sigma: number; alpha: number; beta: number };
  engines: number;
  noiseBps: number;
  confidence: boolean;
}

export const FIRM: FirmSetup = {
  strategy: 'full',
  theta: 0.2,
  validitySeconds: 60,
  sigma: 0.9,
  jumpsPerHour: 1,
  jumpBps: 30,
  alpha: -2,
  beta: 0.25,
  costBps: 0.5,
  fixedBps: 8,
  capUnits: 20,
  gamma: 5e-4,
  arrival: 0.02,
  decay: 0.2,
  believed: { sigma: 1, alpha: 1, beta: 1 },
  engines: 1,
  noiseBps: 0,
  confidence: false,
};

/** One unit of base in base units, and its value in USD at the start. */
export const UNIT = 10n ** 18n;
export const UNIT_USD = 10_000;
export const MICRO = 1_000_000;
/** A quote binds this much longer than its validity. */
export const SKEW_SECONDS = 1;

export function firmInputs(setup: FirmSetup): Omit<PriceInputs, 'side' | 'amount' | 'lp' | 'mid' | 'q'> {
  const { strategy, theta, believed, capUnits } = setup;
  const premium = strategy === 'symmetric' || strategy === 'full';
  const params: PricingParams = {
    ...DEFAULT_PARAMS,
    alpha: setup.alpha * believed.alpha,
    beta: setup.beta * believed.beta,
    omega: premium ? theta / ((1 - theta) * 0.5) : 0,
    gamma: strategy === 'skew' || strategy === 'full' ? setup.gamma : 0,
    jumpsPerSecond: setup.jumpsPerHour / 3600,
    jumpBps: setup.jumpBps,
    arrival: setup.arrival,
    decay: setup.decay,
    rivals: setup.engines,
    unit: UNIT_USD,
    halfBand: capUnits * UNIT_USD,
    impactFactor: 0,
    capitalRate: 0,
    maxSize: Number.MAX_SAFE_INTEGER / MICRO / 2,
  };
  return {
    platformFeeBps: 0,
    relayFee: 0n,
    baseDecimals: 18,
    quoteDecimals: 6,
    quoteValue: 1,
    confidenceBps: setup.confidence ? setup.noiseBps : 0,
    sigma: setup.sigma * believed.sigma,
    firmSeconds: setup.validitySeconds + SKEW_SECONDS,
    ownGas: 0n,
    lockSeconds: 0,
    adverseBps: setup.costBps,
    params,
  };
}

/** In 1e-4 bps, by side and position. */
export type SpreadAt = (side: 1 | -1, q: number, at: number) => bigint;

/** Constant volatility allows caching. */
export function spreads(setup: FirmSetup, { sigmas }: SimWorld): SpreadAt {
  if (setup.strategy === 'fixed') {
    const fixed = BigInt(Math.round(setup.fixedBps * 1e4));
    return () => fixed;
  }
  const common = firmInputs(setup);
  const compute = (side: 1 | -1, q: number, sigma: number) =>
    spreadInteger(
      spreadTerms(
        {
          ...common,
          side: 'exactInput',
          amount: UNIT,
          lp: side === 1 ? 'buy' : 'sell',
          mid: { num: BigInt(UNIT_USD), den: 1n },
          q: q / setup.capUnits,
          sigma,
        },
        UNIT_USD,
        0,
      ),
    );
  if (sigmas !== undefined)
    return (side, q, at) => compute(side, q, (sigmas[at] as number) * setup.believed.sigma);
  const cache = new Map<number, bigint>();
  return (side, q) => {
    const key = side * (q + 1000);
    const found = cache.get(key);
    if (found !== undefined) return found;
    const made = compute(side, q, common.sigma);
    cache.set(key, made);
    return made;
  };
}
