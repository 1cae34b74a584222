/**
 * Prices that nothing else checks. They are allowed, because a token may trade in one place only, but one
 * wrong source is then enough to lose money, so the operator is warned.
 */

import type { LpConfig } from './config.ts';

/** One sentence per price in use that lacks a second source, a guard or a reference. */
export function uncheckedPrices(
  { prices, assets, chains }: LpConfig,
  networks: readonly { id: number; native: { symbol: string } }[],
): string[] {
  const nativeOf = (chainId: number) => networks.find(({ id }) => id === chainId)?.native.symbol;
  const used = new Set([
    ...Object.values(assets).map(({ price }) => price),
    ...chains.map(({ chainId, gasPrice }) => gasPrice ?? nativeOf(chainId) ?? ''),
  ]);
  return [...used].flatMap((symbol) => {
    const price = prices[symbol];
    if (price === undefined) return [];
    const feeds = new Set(('fixed' in price ? price.guards : price.sources).map(({ feed }) => feed)).size;
    if ('fixed' in price) {
      if (feeds === 0)
        return [
          `prices.${symbol} is fixed at ${price.fixed} USD and has no guards: if the market leaves this price, ` +
            'the LP goes on trading at it. Add two guards from different feeds.',
        ];
      if (feeds === 1)
        return [
          `prices.${symbol} is fixed at ${price.fixed} USD with guards from one feed: an error of that feed stops ` +
            'or misprices it. Add a guard from another feed.',
        ];
      return [];
    }
    const missing = [
      ...(feeds < 2 ? ['has sources from one feed only'] : []),
      ...(price.references.length === 0 ? ['has no references'] : []),
    ];
    return missing.length === 0
      ? []
      : [
          `prices.${symbol} ${missing.join(' and ')}: ${
            feeds < 2
              ? 'an error of that feed becomes the price. Add a source from another feed'
              : 'when its sources are wrong together, nothing shows it. Add a reference'
          }${feeds < 2 && price.references.length === 0 ? ', and a reference' : ''}.`,
        ];
  });
}
