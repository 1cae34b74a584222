/** The exchange's mid of a pair: drawn second by second. */

import { perRootSecond } from '../pricing/option.ts';
import type { SimRandom } from './random.ts';

interface PathSetup {
  seconds: number;
  start: number;
  sigma: number;
  jumpsPerHour: number;
  jumpBps: number;
}

/**
 * `common` gives the part of each second's move that all pairs share: `share` is the correlation of any two
 * pairs between their jumps (a one-factor model), and `draws` has a standard normal draw for each second.
 */
export function drawPrices(
  { seconds, start, sigma, jumpsPerHour, jumpBps }: PathSetup,
  random: SimRandom,
  common?: { share: number; draws: ArrayLike<number> },
): number[] {
  const step = perRootSecond(sigma);
  const [shared, own] = common ? [Math.sqrt(common.share), Math.sqrt(1 - common.share)] : [0, 1];
  const prices = [start];
  let price = start;
  for (let at = 1; at <= seconds; at++) {
    let bps = step * (own * random.normal() + shared * (common?.draws[at] ?? 0));
    if (random.uniform() < jumpsPerHour / 3600) bps += random.laplace(jumpBps);
    price *= Math.exp(bps / 1e4);
    prices.push(price);
  }
  return prices;
}

/** Computes the annualised volatility of one price per second. */
export function realised(prices: readonly number[]): number {
  let squares = 0;
  for (let at = 1; at < prices.length; at++)
    squares += (Math.log((prices[at] as number) / (prices[at - 1] as number)) * 1e4) ** 2;
  return prices.length < 2 ? 0 : Math.sqrt(squares / (prices.length - 1)) / perRootSecond(1);
}
