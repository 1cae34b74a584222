/** The venue's reference prices, for display, limits and the relay fee only. */

export interface Reference {
  /** USD per whole unit of a price symbol such as "ETH", times 10^8; undefined without a fresh price. */
  usdE8(symbol: string): bigint | undefined;
}
