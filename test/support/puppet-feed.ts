/** Price sources controlled by a test: each repeats its price ten times a second, or sends nothing. */

import { systemClock } from '../../src/adapters/system/clock.ts';
import type { Feed, FeedListener } from '../../src/ports/feed.ts';

export interface PuppetFeed extends Feed {
  /** Sets the price from now on; undefined: no price. */
  say(symbol: string, price: number | undefined): void;
}

const EVERY_MS = 50;

export function puppetFeed(source: string, first: Record<string, number> = {}): PuppetFeed {
  const prices = new Map<string, number>(Object.entries(first));
  /** One listener per process: an LP may run in several. */
  const listeners = new Set<FeedListener>();
  let [timer, sequence] = [undefined as NodeJS.Timeout | undefined, 0];

  function tell(symbol: string, price: number): void {
    const [text, nowMs] = [price.toFixed(6), systemClock.nowMs()];
    sequence += 1;
    for (const listener of listeners)
      listener.quote({
        source,
        symbol,
        bid: text,
        ask: text,
        exchangeTimeMs: nowMs,
        receivedMs: nowMs,
        sequence,
      });
  }

  return {
    source,
    say(symbol, price) {
      if (price === undefined) return void prices.delete(symbol);
      prices.set(symbol, price);
      tell(symbol, price);
    },
    start(to) {
      listeners.add(to);
      timer ??= setInterval(() => prices.forEach((price, symbol) => tell(symbol, price)), EVERY_MS);
      prices.forEach((price, symbol) => tell(symbol, price));
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
      listeners.clear();
    },
  };
}
