/** Summarises the profits of many runs: mean, risk-adjusted profit, drawdown and tails. */

import { addToSums, deviationOf, errorOf, meanOf, noSums } from '../sums.ts';

/** The profit of one run of a variant, and its greatest loss from a peak. USD. */
export interface RunProfit {
  pnlUsd: number;
  worstDrawdownUsd: number;
}

/** A tail in terms of profit, so that a loss is negative. USD. */
interface Tail {
  /** The profit that a run reaches in all but this share of the runs. */
  value: number;
  /** Mean profit of the worst share of the runs; at most `value`. */
  shortfall: number;
}

export interface Distribution {
  runs: number;
  /** USD a run. */
  mean: number;
  /** Standard error of the mean; null with one run, like all that needs a deviation. USD. */
  error: number | null;
  /** Sample standard deviation, divided by n - 1. USD. */
  deviation: number | null;
  /** Mean over deviation, for one run; null also when all runs earn the same. */
  sharpe: number | null;
  /** The Sharpe ratio of a year. */
  sharpeYear: number | null;
  /** The greatest drawdown inside any run, USD, at least 0. */
  worstDrawdown: number;
  tail5: Tail;
  tail1: Tail;
  /** Share of the runs that lose money: 0.25 is a quarter. */
  losing: number;
}

/** Markets for crypto assets trade every minute of the year. */
const MINUTES_A_YEAR = 365 * 1440;

/**
 * Statistics of independent runs of `minutes` each. The Sharpe ratio is that of Sharpe (1994) against a
 * benchmark of zero, because profits are compared with doing nothing. A year has `MINUTES_A_YEAR / minutes`
 * runs, and the ratio grows with the root of their number (Lo 2002, for independent returns).
 * Throws `RangeError` without a run.
 */
export function distributionOf(runs: readonly RunProfit[], minutes: number): Distribution {
  if (runs.length === 0) throw new RangeError('A distribution needs at least one run.');
  const sums = noSums();
  for (const { pnlUsd } of runs) addToSums(sums, pnlUsd);
  const profits = runs.map(({ pnlUsd }) => pnlUsd);
  // The mean of equal numbers differs from them by rounding, which would be a huge ratio instead of none.
  const varies = profits.some((profit) => profit !== profits[0]);
  const mean = meanOf(sums);
  const deviation = runs.length < 2 ? null : varies ? deviationOf(sums) : 0;
  const sharpe = deviation === null || deviation === 0 ? null : mean / deviation;
  return {
    runs: runs.length,
    mean,
    error: deviation === null ? null : varies ? errorOf(sums) : 0,
    deviation,
    sharpe,
    sharpeYear: sharpe === null ? null : sharpe * Math.sqrt(MINUTES_A_YEAR / minutes),
    worstDrawdown: Math.max(...runs.map(({ worstDrawdownUsd }) => worstDrawdownUsd)),
    tail5: tailOf(profits, 5),
    tail1: tailOf(profits, 1),
    losing: profits.filter((profit) => profit < 0).length / profits.length,
  };
}

/**
 * Computes the tail of a sample. `value` is the lower quantile: the smallest profit x with P(profit <= x) >=
 * percent (value at risk by historical simulation). `shortfall` is the sample's expected shortfall of Acerbi
 * and Tasche (2002): the mean of the worst share, in which the last run counts by the fraction that belongs.
 * `percent` is a whole number from 1 to 100. Throws `RangeError` without a profit.
 */
export function tailOf(profits: readonly number[], percent: number): Tail {
  if (profits.length === 0) throw new RangeError('A tail needs at least one profit.');
  const worstFirst = [...profits].sort((a, b) => a - b);
  // Whole percents keep the product exact: 140 * 0.05 is more than 7.
  const count = (worstFirst.length * percent) / 100;
  const whole = Math.floor(count);
  let sum = 0;
  for (const profit of worstFirst.slice(0, whole)) sum += profit;
  if (whole < worstFirst.length) sum += (count - whole) * (worstFirst[whole] as number);
  const value = worstFirst[Math.ceil(count) - 1] as number;
  // Rounding of the sum must not put the mean of the worst above the best of them.
  return { value, shortfall: Math.min(sum / count, value) };
}

/**
 * Computes the greatest fall from a peak to any later value (Magdon-Ismail and Atiya 2004), in the unit of
 * the values; at least 0. A run starts with a profit of 0, which is its first peak.
 */
export function drawdownOf(profits: readonly number[]): number {
  let [peak, worst] = [0, 0];
  for (const profit of profits) {
    peak = Math.max(peak, profit);
    worst = Math.max(worst, peak - profit);
  }
  return worst;
}
