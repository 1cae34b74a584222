/** Turns results of many seeds into one list of profits per variant, and one for all together. */

import type { MarketResult } from '../market.ts';
import { drawdownOf, type RunProfit } from './distribution.ts';

export interface SeedRun extends RunProfit {
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

/**
 * The variants of every result, in its order. `total` adds their sum: its drawdown is that of the summed
 * profits, so peaks of one LP offset losses of another. All results have the same variants.
 */
export function variantsOf(results: readonly SeedResult[], total = false): Variant[] {
  const names = results[0]?.makers.map(({ name }) => name) ?? [];
  const profitsOf = ({ series }: SeedResult, pick: (pnl: readonly number[]) => number): number[] =>
    series.map(({ makers }) => pick(makers.map(({ pnlUsd }) => pnlUsd)));
  const variant = (name: string, pick: (pnl: readonly number[]) => number): Variant => ({
    name,
    runs: results.map((result) => {
      const profits = profitsOf(result, pick);
      return { seed: result.seed, pnlUsd: profits.at(-1) ?? 0, worstDrawdownUsd: drawdownOf(profits) };
    }),
  });
  return [
    ...names.map((name, at) => variant(name, (pnl) => pnl[at] as number)),
    ...(total && names.length > 1 ? [variant(TOTAL, (pnl) => pnl.reduce((sum, each) => sum + each, 0))] : []),
  ];
}
