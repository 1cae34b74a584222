/** The parameters of the pricing model as configuration: a pair may set any of them. */

import * as z from 'zod';
import { DEFAULT_PARAMS, type PricingParams } from '../../pricing/params.ts';

const share = z.number().min(0).max(1);
const positive = z.number().positive();
const natural = z.number().min(0);

const knobs = {
  alpha: z.number().min(-20).max(20),
  beta: z.number().min(0.05).max(2),
  minEdgeBps: natural,
  /** theta / ((1 - theta) * a): above 1 where most takers hold options. */
  omega: z.number().min(0).max(100),
  jumpsPerSecond: natural,
  jumpBps: positive,
  rivals: z.int().min(1).max(100),
  gamma: natural,
  arrival: positive,
  decay: positive,
  unit: positive,
  halfBand: positive,
  invPassThrough: z.boolean(),
  impactFactor: natural,
  dailyVolume: positive,
  capitalRate: natural,
  coFailureRate: share,
  gasBufferBps: z.int().min(10_000).max(100_000),
  /** Negative values allow rebates beyond the mid. */
  minSpreadBps: z.number().min(-100).max(1_000),
  maxSpreadBps: z.number().min(0).max(5_000),
  maxConfidenceBps: positive,
  minSize: natural,
  maxSize: positive,
} satisfies Record<keyof PricingParams, z.ZodType>;

export const zPricingParams = z.strictObject(knobs).partial();

export const zCorridorParams = zPricingParams.extend({ lockSeconds: z.int().min(0).optional() });

type Named = z.infer<typeof zPricingParams>;

/** The defaults with the configured values; later arguments win. */
export function pricingParams(...named: readonly Named[]): PricingParams {
  const given = named
    .flatMap((each) => Object.entries(each))
    .filter(([key, value]) => value !== undefined && key in DEFAULT_PARAMS);
  return { ...DEFAULT_PARAMS, ...Object.fromEntries(given) };
}
