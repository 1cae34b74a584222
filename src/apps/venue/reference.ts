/** The venue's reference prices: fixed values, and the exact mid of fresh feeds. */

import type { Clock } from '../../ports/clock.ts';
import {
  type Feed,
  FEED_REFUSALS,
  FEED_WAIT_REASONS,
  type FeedPrice,
  type FeedTrouble,
} from '../../ports/feed.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Reference } from '../../ports/reference.ts';
import { midpoint, parseDecimal, type Rational, reduced } from '../../pricing/rational.ts';
import { createReadable } from '../../pricing/readable.ts';
import type { VenueConfig } from './config.ts';

interface ReferenceTools {
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** The least time between two log lines about the same thing. */
const LOGGED_AFTER_MS = 30_000;
const OUTCOMES = ['quote', 'rejected', ...FEED_REFUSALS];

/** Lists the prices that the feeds must deliver. */
export const wantedPrices = (prices: VenueConfig['prices']) =>
  Object.values(prices).flatMap((price) => ('feed' in price ? [{ ...price, use: 'price' as const }] : []));

export function createReference(
  prices: VenueConfig['prices'],
  feeds: readonly Feed[],
  { clock, log, metrics }: ReferenceTools,
): Reference & { start(): void; stop(): void } {
  const last = new Map<string, { usd: Rational; atMs: number }>();
  const fixed = new Map(
    Object.entries(prices).flatMap(([symbol, price]) =>
      'fixed' in price ? [[symbol, parseDecimal(price.fixed) as Rational]] : [],
    ),
  );
  const key = (source: string, symbol: string) => `${source} ${symbol.toUpperCase()}`;
  const messages = metrics.counter(
    'firmquote_venue_reference_messages_total',
    'Prices from a feed of reference prices, by what became of them',
    { feed: feeds.map(({ source }) => source), outcome: OUTCOMES },
  );
  const waits = metrics.counter(
    'firmquote_venue_reference_waits_total',
    'Times that the source of a feed of reference prices asked to wait, by reason',
    { feed: feeds.map(({ source }) => source), reason: FEED_WAIT_REASONS },
  );
  const connections = new Map(feeds.map(({ source }) => [source, { up: false, readable: createReadable() }]));
  metrics.gauge(
    'firmquote_venue_reference_connected',
    '1 while a feed of reference prices is connected and says something that can be read',
    ['feed'],
    (gauge) => {
      for (const [feed, { up, readable }] of connections) gauge.set(up && readable.yes() ? 1 : 0, { feed });
    },
  );
  metrics.gauge(
    'firmquote_venue_reference_fresh',
    '1 while a reference price is known and not too old; without it amounts count as unknown',
    ['price'],
    (gauge) => {
      for (const price of Object.keys(prices)) gauge.set(usd(price) === undefined ? 0 : 1, { price });
    },
  );

  function usd(symbol: string): Rational | undefined {
    const price = prices[symbol];
    if (price === undefined || 'fixed' in price) return fixed.get(symbol);
    const seen = last.get(key(price.feed, price.symbol));
    return seen && clock.nowMs() - seen.atMs <= price.maxAgeMs ? seen.usd : undefined;
  }

  function take({ source, symbol, bid, ask, receivedMs, exchangeTimeMs }: FeedPrice): void {
    const [bidPrice, askPrice] = [parseDecimal(bid), parseDecimal(ask)];
    if (!bidPrice || !askPrice || bidPrice.num === 0n)
      return hear(source, { kind: 'refused', why: 'malformed', symbol });
    messages.add({ feed: source, outcome: 'quote' });
    connections.get(source)?.readable.delivered(symbol);
    last.set(key(source, symbol), {
      usd: reduced(midpoint(bidPrice, askPrice)),
      // An oracle is read every block, but its price may be old.
      atMs: Math.min(receivedMs, exchangeTimeMs ?? receivedMs),
    });
  }

  const logged = new Map<string, { atMs: number; since: number }>();
  /** Logs the first line about something, and then how many there were, at most every 30 seconds. */
  function note(level: 'info' | 'warn', about: string, facts: object, message: string): void {
    const [known, nowMs] = [logged.get(about), clock.monotonicMs()];
    if (known !== undefined && nowMs - known.atMs < LOGGED_AFTER_MS) {
      known.since += 1;
      return;
    }
    log[level]({ ...facts, ...(known && known.since > 0 && { alsoBefore: known.since }) }, message);
    logged.set(about, { atMs: nowMs, since: 0 });
  }

  function hear(feed: string, trouble: FeedTrouble): void {
    const connection = connections.get(feed);
    const facts = { feed, ...trouble };
    switch (trouble.kind) {
      case 'refused': {
        const { why, symbol } = trouble;
        messages.add({ feed, outcome: why });
        connection?.readable.refused(why, symbol);
        // These are normal now and then.
        if (why === 'duplicate' || why === 'out_of_order') return;
        return note(
          'warn',
          `${feed} ${why}`,
          facts,
          'reference feed: a price was refused, and the last one stays until it is too old',
        );
      }
      case 'connected':
        connection?.readable.connected();
        if (connection !== undefined) connection.up = true;
        return note('info', `${feed} connected`, { feed }, 'reference feed: connected');
      case 'rejected':
        messages.add({ feed, outcome: 'rejected' });
        return note(
          'warn',
          `${feed} rejected`,
          facts,
          'reference feed: its source does not serve this symbol',
        );
      case 'disconnected':
        if (connection !== undefined) connection.up = false;
        if (trouble.reason === undefined)
          return note('warn', `${feed} disconnected`, facts, 'reference feed');
        waits.add({ feed, reason: trouble.reason });
        return note('warn', `${feed} ${trouble.reason}`, facts, 'reference feed: its source asks to wait');
      case 'silent':
        return note('warn', `${feed} silent`, facts, 'reference feed');
      case 'gap':
    }
  }

  return {
    usd,
    lastUsd(symbol) {
      const price = prices[symbol];
      return price === undefined || 'fixed' in price
        ? fixed.get(symbol)
        : last.get(key(price.feed, price.symbol))?.usd;
    },
    start() {
      for (const feed of feeds) feed.start({ quote: take, trouble: (trouble) => hear(feed.source, trouble) });
    },
    stop() {
      for (const feed of feeds) feed.stop();
    },
  };
}
