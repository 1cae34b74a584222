/** The venue's reference prices: fixed values, and the mid of fresh feeds. */

import { systemClock } from '../../adapters/system/clock.ts';
import { parseUnits } from '../../domain/amount.ts';
import type { Feed } from '../../ports/feed.ts';
import type { Log } from '../../ports/log.ts';
import type { Reference } from '../../ports/reference.ts';
import type { VenueConfig } from './config.ts';

export function createReference(
  prices: VenueConfig['prices'],
  feeds: readonly Feed[],
  log: Log,
): Reference & { start(): void; stop(): void } {
  const last = new Map<string, { usdE8: bigint; atMs: number }>();
  const key = (source: string, symbol: string) => `${source} ${symbol.toUpperCase()}`;
  return {
    usdE8(symbol) {
      const price = prices[symbol];
      if (!price) return undefined;
      if ('fixed' in price) return toE8(price.fixed);
      const seen = last.get(key(price.feed, price.symbol));
      return seen && systemClock.nowMs() - seen.atMs <= price.maxAgeMs ? seen.usdE8 : undefined;
    },
    start() {
      for (const feed of feeds) {
        feed.start({
          // An oracle is read every block, but its price may be old.
          quote: ({ source, symbol, bid, ask, receivedMs, exchangeTimeMs }) =>
            void last.set(key(source, symbol), {
              usdE8: (toE8(bid) + toE8(ask)) / 2n,
              atMs: Math.min(receivedMs, exchangeTimeMs ?? receivedMs),
            }),
          trouble(trouble) {
            if (trouble.kind === 'disconnected' || trouble.kind === 'silent')
              log.warn({ feed: feed.source, ...trouble }, 'reference feed');
          },
        });
      }
    },
    stop() {
      for (const feed of feeds) feed.stop();
    },
  };
}

/** Exchanges publish at most eight significant decimals; the rest is cut. */
function toE8(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return parseUnits(`${whole}.${fraction.slice(0, 8) || '0'}`, 8);
}
