/** Computes the exact probabilities behind the model's figures. */

import { bachelierCall } from '../../pricing/option.ts';
import { normalCdf, normalPdf } from '../../pricing/special.ts';

/** Computes P(N > m) for m from 0 to n - 1, with N the successes of independent trials (Poisson-binomial). */
export function exceedance(chances: readonly number[]): number[] {
  let distribution = [1];
  for (const p of chances)
    distribution = Array.from(
      { length: distribution.length + 1 },
      (_, at) => (distribution[at] ?? 0) * (1 - p) + (distribution[at - 1] ?? 0) * p,
    );
  const above: number[] = [];
  let tail = 0;
  // Summed from the small end to keep precision.
  for (let m = chances.length - 1; m >= 0; m--) {
    tail += distribution[m + 1] as number;
    above[m] = tail;
  }
  return above;
}

/** Fewest payouts to hold so that P(more are needed) <= `epsilon`. */
export function payoutsToHold(chances: readonly number[], epsilon: number): number {
  const found = exceedance(chances).findIndex((chance) => chance <= epsilon);
  return found === -1 ? chances.length : found;
}

/** Computes Bernstein's bound on P(N >= np + t). */
export function bernstein(n: number, p: number, t: number): number {
  return Math.exp((-t * t) / 2 / (n * p * (1 - p) + t / 3));
}

/** Computes E[max of n standard normals], by Simpson's rule. */
export function largestOf(n: number): number {
  return integral((z) => n * z * normalPdf(z) * normalCdf(z) ** (n - 1), -9, 9);
}

/** Milionis et al., arXiv 2305.14604. `sigma` per root second, `fee` as a share. */
export function arbitrageChance({
  sigma,
  fee,
  blockSeconds,
}: {
  sigma: number;
  fee: number;
  blockSeconds: number;
}): number {
  return 1 / (1 + (Math.sqrt(2 / blockSeconds) * fee) / sigma);
}

/** Expected loss of an x*y=k pool's value under diffusion, as a share. */
export function poolLoss(deviation: number): number {
  return (
    1 - integral((z) => normalPdf(z) * Math.exp((deviation * z - (deviation * deviation) / 2) / 2), -9, 9)
  );
}

/** Solves d* = omega * (phi(d*) - d* * Phi(-d*)), in deviations of the mid. */
export function breakEven(omega: number): number {
  let [low, high] = [0, Math.max(1, omega)];
  for (let round = 0; round < 100; round++) {
    const d = (low + high) / 2;
    if (omega * bachelierCall(d, 1) > d) low = d;
    else high = d;
  }
  return (low + high) / 2;
}

function integral(of: (z: number) => number, from: number, to: number): number {
  const steps = 4_000;
  const width = (to - from) / steps;
  let sum = of(from) + of(to);
  for (let at = 1; at < steps; at++) sum += of(from + at * width) * (at % 2 === 1 ? 4 : 2);
  return (sum * width) / 3;
}
