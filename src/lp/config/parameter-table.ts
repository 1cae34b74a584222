/** Unit and meaning of each pricing parameter, and the values that it may have, for people. */

import * as z from 'zod';
import { DEFAULT_PARAMS, type PricingParams } from '../../pricing/params.ts';
import { zCorridorParams } from './params.ts';

type ParameterName = keyof PricingParams | 'lockSeconds';

/** `–`: no unit. docs/lp/parameters.md has the same words. */
const WORDS: Readonly<Record<ParameterName, { unit: string; meaning: string }>> = {
  alpha: {
    unit: '–',
    meaning:
      'win-rate curve f = 1 / (1 + e^(alpha + beta x D)): its level. the higher, the fewer takers accept at any spread',
  },
  beta: {
    unit: '1/bps',
    meaning:
      'win-rate curve: how fast acceptance falls as the spread grows; the higher, the more contested the market',
  },
  minEdgeBps: { unit: 'bps', meaning: 'the markup is never below this' },
  omega: {
    unit: '–',
    meaning:
      'share of the option value that is charged: takers who wait for a move, divided by the others and their acceptance rate',
  },
  jumpsPerSecond: { unit: '1/s', meaning: 'jumps of the price' },
  jumpBps: { unit: 'bps', meaning: 'mean size of a jump' },
  rivals: {
    unit: 'count',
    meaning:
      'quoters for the same request, this LP included: the winner is the one whose price is most wrong',
  },
  gamma: { unit: '1/(bps x unit)', meaning: 'risk aversion: how strongly inventory moves the price' },
  arrival: {
    unit: '1/s',
    meaning: 'requests of one unit per second: more of them let inventory flow back by itself',
  },
  decay: { unit: '1/bps', meaning: 'how fast requests fall with the spread' },
  unit: { unit: 'USD', meaning: 'size of one unit for `gamma` and `arrival`' },
  halfBand: { unit: 'USD', meaning: 'position at which the skew is full; `assets.*.softBand` replaces it' },
  invPassThrough: {
    unit: 'true, false',
    meaning: 'pass the skew to the price one to one, instead of through the markup',
  },
  impactFactor: {
    unit: '–',
    meaning: 'price impact of hedging this size: factor x daily deviation x sqrt(size / `dailyVolume`)',
  },
  dailyVolume: { unit: 'USD', meaning: 'daily volume of the market where you hedge' },
  capitalRate: { unit: 'share', meaning: 'cost of the input that is locked until claimed, a year' },
  coFailureRate: {
    unit: 'share',
    meaning: 'with split fills: probability that another LP of the order fails',
  },
  gasBufferBps: { unit: 'bps', meaning: 'own gas is charged times this over 10,000' },
  minSpreadBps: {
    unit: 'bps',
    meaning: 'least all-in spread; below 0 a rebate may go beyond the mid by at most this',
  },
  maxSpreadBps: { unit: 'bps', meaning: 'above this nothing is quoted' },
  maxConfidenceBps: { unit: 'bps', meaning: 'above this disagreement of the sources nothing is quoted' },
  minSize: { unit: 'USD', meaning: 'smallest request' },
  maxSize: { unit: 'USD', meaning: 'largest request' },
  lockSeconds: { unit: 's', meaning: 'the time from fill to claim on that corridor' },
};

export interface ParameterRow {
  name: ParameterName;
  unit: string;
  meaning: string;
  /** null: another option says it. */
  preset: number | boolean | null;
  kind: 'number' | 'integer' | 'boolean';
  least: number | null;
  most: number | null;
  /** Set for a corridor only. */
  corridorOnly: boolean;
}

interface JsonSchemaOf {
  properties: Record<string, { type: ParameterRow['kind']; minimum?: number; maximum?: number }>;
}

/**
 * Lists the parameters in the order of the documentation. Bounds are those of the schema, so a value above 0
 * has no `least`.
 */
export function parameterTable(): ParameterRow[] {
  const { properties } = z.toJSONSchema(zCorridorParams) as unknown as JsonSchemaOf;
  return Object.entries(WORDS).map(([key, words]) => {
    const name = key as ParameterName;
    const { type: kind = 'number', minimum, maximum } = properties[name] ?? {};
    return {
      ...{ name, ...words, kind, least: minimum ?? null, most: maximum ?? null },
      preset: name === 'lockSeconds' ? null : DEFAULT_PARAMS[name],
      corridorOnly: name === 'lockSeconds',
    };
  });
}
