/** Black-Scholes (1973): known figures to check our normal distribution and the Bachelier premium. */

import { bachelierCall } from '../../pricing/option.ts';
import { normalCdf } from '../../pricing/special.ts';

interface BlackScholesSetup {
  S: number;
  K: number;
  r: number;
  sigma: number;
  T: number;
}

export function blackScholes({ S, K, r, sigma, T }: BlackScholesSetup): { call: number; put: number } {
  const deviation = sigma * Math.sqrt(T);
  const d1 = (Math.log(S / K) + (r + (sigma * sigma) / 2) * T) / deviation;
  const d2 = d1 - deviation;
  const bond = K * Math.exp(-r * T);
  return { call: S * normalCdf(d1) - bond * normalCdf(d2), put: bond * normalCdf(-d2) - S * normalCdf(-d1) };
}

/**
 * Black-Scholes over Bachelier, minus 1, for calls d deviations out of the money; `deviation` as a share of
 * the price.
 */
export function overBachelier(d: number, deviation: number): number {
  const { call } = blackScholes({ S: 1, K: 1 + d * deviation, r: 0, sigma: deviation, T: 1 });
  return call / bachelierCall(d * deviation, deviation) - 1;
}
