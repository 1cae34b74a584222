/**
 * The venue's reference prices: for display, limits, the relay fee, and the gas that a taker pays when quotes
 * are ranked. Never for a quote's amounts.
 */

export interface Reference {
  /** USD per whole unit of a price symbol such as "ETH", times 10^8; undefined without a fresh price. */
  usdE8(symbol: string): bigint | undefined;
}
