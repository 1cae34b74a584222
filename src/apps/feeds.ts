/** Price feeds by configuration: one connection a source, for every symbol that somebody asked of it. */

import { createBinanceFeed } from '../adapters/feeds/binance.ts';
import { systemClock } from '../adapters/system/clock.ts';
import { RequestError } from '../domain/errors.ts';
import type { Feed } from '../ports/feed.ts';
import { expand, type SecretContext } from './keys.ts';

export interface WantedSymbol {
  feed: string;
  symbol: string;
}

export function createFeeds(sections: Readonly<Record<string, { url: string }>>, wanted: readonly WantedSymbol[], secrets: SecretContext): Feed[] {
  const symbols = new Map<string, Set<string>>();
  for (const { feed, symbol } of wanted) symbols.set(feed, (symbols.get(feed) ?? new Set()).add(symbol));
  return [...symbols].map(([source, names]) => {
    const section = sections[source];
    if (!section) throw new RequestError(`A price is taken from the feed "${source}", which is not configured. Add it under feeds, or name another.`, { code: 'bad_config' });
    return createBinanceFeed({ clock: systemClock, backoff }, { url: expand(section.url, secrets), symbols: [...names], source });
  });
}

/** Full jitter over the upper half, 200 ms growing to 10 s. */
const backoff = (attempt: number): number => Math.round(Math.min(10_000, 200 * 2 ** Math.min(attempt, 10)) * (0.5 + Math.random() / 2));
