/**
 * The venue's own idea of what things are worth, for display, limits and the relayer's pay; never for what an
 * LP must deliver.
 */

export interface Reference {
  /** USD for one whole unit, times 10^8, of a price symbol such as "ETH". undefined: none fresh enough. */
  usdE8(symbol: string): bigint | undefined;
}
