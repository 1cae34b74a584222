/**
 * The venue's reference prices: for display, limits, the relay fee, and the gas that a taker pays when quotes
 * are ranked. Never for a quote's amounts.
 */

import type { Rational } from '../pricing/rational.ts';

export interface Reference {
  /**
   * Returns USD per whole unit of a price symbol such as "ETH", exact, above 0; undefined without a fresh
   * price.
   */
  usd(symbol: string): Rational | undefined;
  /** The newest price, however old, for estimates; undefined where there never was one. */
  lastUsd(symbol: string): Rational | undefined;
}
