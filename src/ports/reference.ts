/** The venue's reference prices, for display, limits and the relay fee; never for what an LP must deliver. */

export interface Reference {
  /** USD per whole unit of a price symbol such as "ETH", times 10^8; undefined when none is fresh enough. */
  usdE8(symbol: string): bigint | undefined;
}
