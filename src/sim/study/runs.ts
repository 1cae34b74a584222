/** Turns results of many seeds into one list of profits per variant, and one for all together. */

import type { HedgedSample, MarketResult } from '../market.ts';
import type { Sample } from '../tally.ts';
import { drawdownOf, type RunProfit } from './distribution.ts';

interface SeedRun extends RunProfit {
  seed: number;
}

export interface Variant {
  name: string;
  runs: SeedRun[];
}

export interface SeedResult extends Pick<MarketResult, 'series'> {
  seed: number;
  makers: readonly { name: string }[];
}

const TOTAL = 'all LPs';
/** The first LP together with its hedge; not part of the total. */
export const HEDGED = 'hedged';

type SeedSample = MarketResult['series'][number];

/**
 * Lists the variants of every result, in its order. `total` adds their sum: its drawdown is that of the
 * summed profits, so peaks of one LP offset losses of another. All results have the same variants.
 */
export function variantsOf(results: readonly SeedResult[], { total = false } = {}): Variant[] {
  const names = results[0]?.makers.map(({ name }) => name) ?? [];
  const variant = (name: string, pnlOf: (sample: SeedSample) => number): Variant => ({
    name,
    runs: results.map(({ seed, series }) => {
      const profits = series.map(pnlOf);
      return { seed, pnlUsd: profits.at(-1) ?? 0, worstDrawdownUsd: drawdownOf(profits) };
    }),
  });
  const hedged = results[0]?.series[0]?.hedged !== undefined;
  return [
    ...names.map((name, at) => variant(name, ({ makers }) => (makers[at] as Sample).pnlUsd)),
    ...(total && names.length > 1
      ? [variant(TOTAL, ({ makers }) => makers.reduce((sum, { pnlUsd }) => sum + pnlUsd, 0))]
      : []),
    ...(hedged ? [variant(HEDGED, ({ hedged: sample }) => (sample as HedgedSample).pnlUsd)] : []),
  ];
}
