/** A constant price, repeated so that it never grows stale. */

import { RequestError } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Feed } from '../../ports/feed.ts';
import { type Book, readPrices } from './format.ts';

interface ConstantFeedOptions {
  prices: Readonly<Record<string, string>>;
  source?: string;
  everyMs?: number;
}

export function createConstantFeed(
  { clock }: { clock: Clock },
  { prices, source = 'constant', everyMs = 500 }: ConstantFeedOptions,
): Feed {
  const books = Object.entries(prices).map(([symbol, price]): Book & { symbol: string } => {
    const book = readPrices(price, price);
    if (typeof book === 'string')
      throw new RequestError(
        `The constant price of ${symbol} is "${price.slice(0, 40)}"; write a positive decimal.`,
        { code: 'bad_config' },
      );
    return { symbol, ...book };
  });
  let cancel: (() => void) | undefined;
  let stopped = false;
  return {
    source,
    start(listener) {
      let sequence = 0;
      const publish = () => {
        if (stopped) return;
        sequence += 1;
        for (const book of books)
          listener.quote({
            source,
            ...book,
            exchangeTimeMs: clock.nowMs(),
            receivedMs: clock.nowMs(),
            sequence,
          });
        cancel = clock.after(everyMs, publish);
      };
      publish();
    },
    stop() {
      stopped = true;
      cancel?.();
    },
  };
}
