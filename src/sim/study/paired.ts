/** Compares two variants that met the same seeds: the mean of their difference and a confidence interval. */

import { addToSums, deviationOf, errorOf, meanOf, noSums } from '../sums.ts';

export interface PairedDifference {
  /** Mean of second less first. */
  mean: number;
  /** Bounds that contain the true mean with probability 0.95; null with one pair. */
  interval: readonly [low: number, high: number] | null;
}

const CONFIDENCE = 0.95;

/**
 * Computes Student's paired interval: the mean of the differences, plus and minus the quantile of Student's t
 * with n - 1 degrees of freedom times their standard error. Common random numbers leave only what the
 * variants do differently (Glasserman and Yao 1992). Throws `RangeError` for lists of different lengths, or
 * empty ones.
 */
export function pairedDifference(first: readonly number[], second: readonly number[]): PairedDifference {
  if (first.length !== second.length || first.length === 0)
    throw new RangeError(`Pairs need two equally long lists, not ${first.length} and ${second.length}.`);
  const sums = noSums();
  const differences = first.map((value, at) => (second[at] as number) - value);
  for (const each of differences) addToSums(sums, each);
  const mean = meanOf(sums);
  if (first.length < 2) return { mean, interval: null };
  // The sum of squares of equal numbers leaves rounding where the deviation is 0.
  const varies = differences.some((each) => each !== differences[0]) && deviationOf(sums) > 0;
  const half = varies ? studentQuantile((1 + CONFIDENCE) / 2, first.length - 1) * errorOf(sums) : 0;
  return { mean, interval: [mean - half, mean + half] };
}

/**
 * Computes the t with P(T <= t) = `probability`, from 0.5 to below 1, for a whole number of degrees of
 * freedom.
 */
export function studentQuantile(probability: number, freedom: number): number {
  const wanted = 2 * probability - 1;
  let [low, high] = [0, 1];
  while (within(high, freedom) < wanted) high *= 2;
  for (let round = 0; round < 100; round++) {
    const middle = (low + high) / 2;
    if (within(middle, freedom) < wanted) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Computes P(|T| <= t) by the finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4. */
function within(t: number, freedom: number): number {
  const angle = Math.atan(t / Math.sqrt(freedom));
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const odd = freedom % 2 === 1;
  let [term, sum] = odd ? [cosine, freedom === 1 ? 0 : cosine] : [1, 1];
  for (let power = odd ? 3 : 2; power <= freedom - 2; power += 2) {
    term *= ((power - 1) / power) * cosine * cosine;
    sum += term;
  }
  return odd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
}
