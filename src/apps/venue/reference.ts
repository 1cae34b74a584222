/** The venue's reference prices: fixed values, and the exact mid of fresh feeds. */

import type { Clock } from '../../ports/clock.ts';
import { type Feed, FEED_REFUSALS, type FeedQuote, type FeedTrouble } from '../../ports/feed.ts';
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

/** Between two log lines about refused messages of one symbol. */
const REFUSALS_LOGGED_AFTER_MS = 30_000;
const OUTCOMES = ['quote', 'rejected', ...FEED_REFUSALS];

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

  function take({ source, symbol, bid, ask, receivedMs, exchangeTimeMs }: FeedQuote): void {
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

  const refusals = new Map<string, { loggedMs: number; unlogged: number }>();
  function logRefusal(feed: string, refusal: Extract<FeedTrouble, { kind: 'refused' }>): void {
    // A message out of order is normal now and then.
    if (refusal.why === 'duplicate' || refusal.why === 'out_of_order') return;
    const about = `${feed} ${refusal.why}`;
    const known = refusals.get(about);
    const nowMs = clock.monotonicMs();
    if (known !== undefined && nowMs - known.loggedMs < REFUSALS_LOGGED_AFTER_MS) {
      known.unlogged += 1;
      return;
    }
    log.warn(
      { feed, ...refusal, unlogged: known?.unlogged ?? 0 },
      'reference feed: a price was refused and the last one stays until it is too old',
    );
    refusals.set(about, { loggedMs: nowMs, unlogged: 0 });
  }

  function hear(feed: string, trouble: FeedTrouble): void {
    const connection = connections.get(feed);
    switch (trouble.kind) {
      case 'refused':
        messages.add({ feed, outcome: trouble.why });
        connection?.readable.refused(trouble.why, trouble.symbol);
        return logRefusal(feed, trouble);
      case 'connected':
        connection?.readable.connected();
        if (connection !== undefined) connection.up = true;
        return log.info({ feed }, 'reference feed: connected');
      case 'rejected':
        messages.add({ feed, outcome: 'rejected' });
        break;
      case 'disconnected':
        if (connection !== undefined) connection.up = false;
        break;
      case 'gap':
        return;
      case 'silent':
    }
    log.warn({ feed, ...trouble }, 'reference feed');
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
