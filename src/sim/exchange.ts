/** The market's mid: drawn second by second. */

import { perRootSecond } from '../pricing/option.ts';
import type { SimRandom } from './random.ts';

interface PathSetup {
  seconds: number;
  start: number;
  sigma: number;
  jumpsPerHour: number;
  jumpBps: number;
}

export function drawPrices(
  { seconds, start, sigma, jumpsPerHour, jumpBps }: PathSetup,
  random: SimRandom,
): number[] {
  const step = perRootSecond(sigma);
  const prices = [start];
  let price = start;
  for (let at = 1; at <= seconds; at++) {
    let bps = step * random.normal();
    if (random.uniform() < jumpsPerHour / 3600) bps += random.laplace(jumpBps);
    price *= Math.exp(bps / 1e4);
    prices.push(price);
  }
  return prices;
}

/** Annualised volatility of one price per second. */
export function realised(prices: readonly number[]): number {
  let squares = 0;
  for (let at = 1; at < prices.length; at++)
    squares += (Math.log((prices[at] as number) / (prices[at - 1] as number)) * 1e4) ** 2;
  return prices.length < 2 ? 0 : Math.sqrt(squares / (prices.length - 1)) / perRootSecond(1);
}
