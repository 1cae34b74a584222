/** Counts messages and faults of price feeds, and shows and logs the health of each price and source. */

import { isDecline } from '../../domain/decline.ts';
import type { Clock } from '../../ports/clock.ts';
import { FEED_REFUSALS, FEED_WAIT_REASONS, type FeedTrouble, type Sequencer } from '../../ports/feed.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { createReadable } from '../../pricing/readable.ts';
import type { Market } from './market.ts';
import type { PairPrice } from './pair-view.ts';
import type { SourceView } from './source-view.ts';
import { ALWAYS, type CheckedReference } from './symbol-price.ts';

export interface FeedMonitorDeps {
  /** The market in force. */
  market(): Market;
  sequencers: ReadonlyMap<number, Sequencer>;
  slug(chainId: number): string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** A time during which a source was not usable. */
interface Spell {
  sinceMs: number;
  /** Messages refused in it. */
  refused: number;
  logged: { trouble: string; atMs: number } | undefined;
}

const CHECK_MS = 1_000;
/** A source in trouble for less is not logged. */
const LOGGED_AFTER_MS = 5_000;
/** Changes of one trouble are logged at most once in this time. */
const CHANGE_LOGGED_AFTER_MS = 30_000;
/** Waits of one feed for one reason are logged at most once in this time. */
const WAIT_LOGGED_AFTER_MS = 60_000;
/** An exchange may give a new reason for each attempt. */
const MAX_REASONS = 20;
/** Each connection logs this many rejections; further ones are only counted. */
const MAX_LOGGED_REJECTIONS = 20;

/** The outcomes of a message: a metrics label. */
const OUTCOMES = ['quote', 'reference', 'rejected', ...FEED_REFUSALS];
const CODES = ['stale_mid', 'deviation', 'depeg', 'confidence'] as const;

export function createFeedMonitor({ market, sequencers, slug, clock, log, metrics }: FeedMonitorDeps) {
  const messages = metrics.counter(
    'firmquote_lp_feed_messages_total',
    'Prices from a feed, by what became of them',
    ['feed', 'outcome'],
  );
  const disconnects = metrics.counter(
    'firmquote_lp_feed_disconnects_total',
    'Connections to a feed that ended, each followed by another attempt',
    ['feed'],
  );
  const waits = metrics.counter(
    'firmquote_lp_feed_waits_total',
    'Times that the source of a feed asked to wait, by reason',
    ['feed', 'reason'],
  );
  /** The monotonic time until which each feed waits, in milliseconds. */
  const waiting = new Map<string, number>();
  metrics.gauge(
    'firmquote_lp_feed_wait_seconds',
    'Until a feed asks its source again, which asked it to wait; 0 while it does not wait',
    ['feed'],
    (gauge) => {
      for (const feed of connected.keys())
        gauge.set(Math.max(0, (waiting.get(feed) ?? 0) - clock.monotonicMs()) / 1_000, { feed });
    },
  );
  const gaps = metrics.counter('firmquote_lp_feed_gaps_total', 'Losses that a feed proved', ['feed']);
  const connected = new Map<string, boolean>();
  const readable = new Map<string, ReturnType<typeof createReadable>>();
  metrics.gauge(
    'firmquote_lp_feed_connected',
    '1 while a feed is connected and says something that can be read',
    ['feed'],
    (gauge) => {
      for (const [feed, up] of connected)
        gauge.set(up && readable.get(feed)?.yes() !== false ? 1 : 0, { feed });
    },
  );

  metrics.gauge(
    'firmquote_lp_source_age_seconds',
    'Since the price that a source named last',
    ['price', 'source'],
    (gauge) => {
      for (const { price, feed, symbol, atMs } of market().sources())
        if (atMs !== undefined)
          gauge.set(Math.max(0, clock.nowMs() - atMs) / 1_000, { price, source: `${feed}|${symbol}` });
    },
  );
  metrics.gauge('firmquote_lp_source_price', 'What a source said last', ['price', 'source'], (gauge) => {
    for (const { price, feed, symbol, value } of market().sources())
      if (value !== undefined) gauge.set(value, { price, source: `${feed}|${symbol}` });
  });
  metrics.gauge(
    'firmquote_lp_source_used',
    '1 while a source is part of a mid, or checks one',
    ['price', 'source'],
    (gauge) => {
      for (const { price, feed, symbol, use } of market().sources())
        gauge.set(use === 'used' || use === 'checks' ? 1 : 0, { price, source: `${feed}|${symbol}` });
    },
  );
  metrics.gauge(
    'firmquote_lp_source_refused',
    'Messages of a source that were refused since its last accepted price',
    ['price', 'source'],
    (gauge) => {
      for (const { price, feed, symbol, refused } of market().sources())
        gauge.set(refused?.count ?? 0, { price, source: `${feed}|${symbol}` });
    },
  );
  metrics.gauge(
    'firmquote_lp_price_sources_missing',
    'Sources, guards and references of a price that are not usable now',
    ['price'],
    (gauge) => {
      const missing = new Map<string, number>();
      for (const { price, trouble } of market().sources())
        missing.set(price, (missing.get(price) ?? 0) + (trouble === undefined ? 0 : 1));
      for (const [price, count] of missing) gauge.set(count, { price });
    },
  );
  /* Set to NaN what has no value now: a gauge would keep its last one. */
  const references = (name: string, help: string, of: (checked: CheckedReference) => number) =>
    metrics.gauge(name, help, ['price', 'reference'], (gauge) => {
      for (const { price, source, checked } of market().references())
        gauge.set(checked === undefined ? Number.NaN : of(checked), { price, reference: source });
    });
  references(
    'firmquote_lp_reference_deviation_bps',
    'Distance of a reference from the mid',
    ({ deviationBps }) => deviationBps,
  );
  references(
    'firmquote_lp_reference_allowed_bps',
    'Beyond this distance nothing is quoted',
    ({ allowedBps }) => allowedBps,
  );
  const pair = (base: string, quote: string) => ({ pair: `${base}-${quote}` });
  const prices = (name: string, help: string, of: (price: PairPrice) => number) =>
    metrics.gauge(name, help, ['pair'], (gauge) => {
      for (const { base, quote, price } of market().pairs())
        gauge.set(isDecline(price) ? Number.NaN : of(price), pair(base, quote));
    });
  prices('firmquote_lp_mid', 'Quote tokens for one base token', ({ mid }) => mid.value);
  prices('firmquote_lp_mid_age_seconds', 'Since the oldest source that a mid is made of', ({ mid }) =>
    mid.atMs === ALWAYS ? 0 : Math.max(0, clock.nowMs() - mid.atMs) / 1_000,
  );
  prices(
    'firmquote_lp_mid_confidence_bps',
    'How far the sources of a mid lie apart',
    ({ mid }) => mid.confidenceBps,
  );
  prices(
    'firmquote_lp_volatility_annual',
    'Annualised volatility that prices (1 is 100 %)',
    ({ sigma }) => sigma,
  );
  metrics.gauge(
    'firmquote_lp_price_condition',
    '1 while this is wrong with the price of a pair',
    ['pair', 'code'],
    (gauge) => {
      for (const { base, quote } of market().pairs()) {
        const condition = market().condition(base, quote);
        for (const code of CODES) gauge.set(condition?.code === code ? 1 : 0, { ...pair(base, quote), code });
      }
    },
  );
  metrics.gauge(
    'firmquote_lp_sequencer_up',
    '1 while the sequencer of a rollup is up and its grace is over',
    ['chain'],
    (gauge) => {
      for (const [chainId, sequencer] of sequencers)
        gauge.set(sequencer.state().up ? 1 : 0, { chain: slug(chainId) });
    },
  );

  /** Attempts to connect that fail in the same way are logged once. */
  const failures = new Map<string, Set<string>>();
  function isNewFailure(feed: string, detail: string): boolean {
    const known = failures.get(feed) ?? new Set();
    failures.set(feed, known);
    if (known.has(detail) || known.size >= MAX_REASONS) return false;
    known.add(detail);
    return true;
  }

  /** The monotonic time at which a wait was last logged, by feed and reason. */
  const waitsLogged = new Map<string, number>();
  /** Feeds that were disconnected without a line. */
  const silently = new Set<string>();
  function isNewWait(feed: string, reason: string): boolean {
    const [key, nowMs] = [`${feed} ${reason}`, clock.monotonicMs()];
    const loggedMs = waitsLogged.get(key);
    if (loggedMs !== undefined && nowMs - loggedMs < WAIT_LOGGED_AFTER_MS) return false;
    waitsLogged.set(key, nowMs);
    return true;
  }

  const spells = new Map<string, Spell>();
  const nameOf = ({ price, feed, symbol }: SourceView) => `${price} ${feed}|${symbol}`;
  function followSource(view: SourceView): void {
    const { price, feed, symbol, role, trouble, refused } = view;
    const key = nameOf(view);
    const [spell, nowMs] = [spells.get(key), clock.monotonicMs()];
    const facts = { price, source: `${feed}|${symbol}`, role };
    if (trouble === undefined) {
      spells.delete(key);
      if (spell?.logged !== undefined)
        log.info(
          { ...facts, was: spell.logged.trouble, forMs: nowMs - spell.sinceMs, refused: spell.refused },
          'this source of a price is usable again',
        );
      return;
    }
    if (spell === undefined) {
      spells.set(key, { sinceMs: nowMs, refused: refused?.count ?? 0, logged: undefined });
      return;
    }
    spell.refused = Math.max(spell.refused, refused?.count ?? 0);
    const { logged } = spell;
    const due =
      logged === undefined
        ? nowMs - spell.sinceMs >= LOGGED_AFTER_MS
        : logged.trouble !== trouble && nowMs - logged.atMs >= CHANGE_LOGGED_AFTER_MS;
    if (!due) return;
    const { value, ageMs, allowedAgeMs, offBps, allowedBps } = view;
    log.warn(
      { ...facts, trouble, value, ageMs, allowedAgeMs, offBps, allowedBps, refused },
      'this source of a price is not usable',
    );
    spell.logged = { trouble, atMs: nowMs };
  }

  let cancelCheck = () => {};
  function check(): void {
    const views = market().sources();
    for (const view of views) followSource(view);
    const names = new Set(views.map(nameOf));
    for (const name of spells.keys()) if (!names.has(name)) spells.delete(name);
    cancelCheck = clock.after(CHECK_MS, check);
  }
  const rejections = new Map<string, number>();

  function hear(feed: string, trouble: FeedTrouble): void {
    switch (trouble.kind) {
      case 'refused':
        // An exchange can send thousands of these a second: count them, and log spells of them.
        readable.get(feed)?.refused(trouble.why, trouble.symbol);
        return messages.add({ feed, outcome: trouble.why });
      case 'connected':
        connected.set(feed, true);
        readable.get(feed)?.connected();
        failures.delete(feed);
        rejections.delete(feed);
        waiting.delete(feed);
        if (silently.delete(feed)) return;
        return log.info({ feed, ...trouble }, 'price feed');
      case 'disconnected':
        connected.set(feed, false);
        disconnects.add({ feed });
        if (trouble.reason !== undefined) {
          waits.add({ feed, reason: trouble.reason });
          waiting.set(feed, clock.monotonicMs() + (trouble.retryInMs ?? 0));
          if (!isNewWait(feed, trouble.reason)) return void silently.add(feed);
        } else if (!isNewFailure(feed, trouble.detail)) return;
        break;
      case 'gap':
        gaps.add({ feed });
        break;
      case 'rejected':
        messages.add({ feed, outcome: 'rejected' });
        rejections.set(feed, (rejections.get(feed) ?? 0) + 1);
        if ((rejections.get(feed) ?? 0) > MAX_LOGGED_REJECTIONS) return;
        return log.error(
          { feed, ...trouble },
          'price feed: the source does not serve this symbol, correct the configuration',
        );
      case 'silent':
    }
    log.warn({ feed, ...trouble }, 'price feed');
  }

  return {
    add(feed: string, up: boolean) {
      connected.set(feed, up);
      readable.set(feed, createReadable());
      for (const counter of [disconnects, gaps]) counter.add({ feed }, 0);
      for (const outcome of OUTCOMES) messages.add({ feed, outcome }, 0);
      for (const reason of FEED_WAIT_REASONS) waits.add({ feed, reason }, 0);
    },
    /** Takes the feed's metrics away, so that no alert waits for a feed that the configuration dropped. */
    remove(feed: string) {
      for (const each of [connected, readable, failures, rejections, waiting, silently]) each.delete(feed);
      for (const counter of [disconnects, gaps]) counter.remove({ feed });
      for (const outcome of OUTCOMES) messages.remove({ feed, outcome });
      for (const reason of FEED_WAIT_REASONS) waits.remove({ feed, reason });
    },
    delivered(feed: string, symbol: string, outcome: 'quote' | 'reference') {
      messages.add({ feed, outcome });
      readable.get(feed)?.delivered(symbol);
    },
    hear,
    start() {
      cancelCheck = clock.after(CHECK_MS, check);
    },
    stop() {
      cancelCheck();
    },
  };
}
