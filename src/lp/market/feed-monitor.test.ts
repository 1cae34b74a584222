/** What the operator hears about price sources: one line per spell, metrics, and details that name each. */

import { beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../../test/support/silent.ts';
import { createMetrics, type Exposition } from '../../adapters/prometheus/metrics.ts';
import type { FeedListener, FeedRefusal } from '../../ports/feed.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { zLpConfig } from '../config/config.ts';
import type { Market } from './market.ts';
import { createPriceSources } from './price-sources.ts';

let nowMs: number;
let due: { atMs: number; run: () => void }[];
let lines: { level: 'info' | 'warn'; message: string; facts: Record<string, unknown> }[];
let metrics: Metrics & Exposition;
let market: Market;
let listeners: Record<string, FeedListener>;

const clock = {
  nowMs: () => nowMs,
  monotonicMs: () => nowMs,
  after(ms: number, run: () => void) {
    const timer = { atMs: nowMs + ms, run };
    due.push(timer);
    return () => void due.splice(due.indexOf(timer), 1);
  },
};
/** Seconds pass, each beginning with these messages. */
function seconds(count: number, messages: () => void = () => {}): void {
  for (let second = 0; second < count; second++) {
    messages();
    nowMs += 1_000;
    for (const timer of due.filter(({ atMs }) => atMs <= nowMs)) {
      due.splice(due.indexOf(timer), 1);
      timer.run();
    }
  }
}
const say = (source: string, price: string) =>
  listeners[source]?.quote({
    ...{ source, symbol: 'ETHUSD', bid: price, ask: price },
    ...{ exchangeTimeMs: nowMs, receivedMs: nowMs, sequence: null },
  });
const refuse = (source: string, why: FeedRefusal, symbol: string | null = 'ETHUSD') =>
  listeners[source]?.trouble?.({ kind: 'refused', why, symbol });
const spells = () => lines.filter(({ message }) => message.startsWith('this source'));

beforeEach(() => {
  [nowMs, due, lines, listeners] = [1_000_000, [], [], {}];
  metrics = createMetrics();
  const config = zLpConfig.parse({
    solver: { id: 'a', name: 'A' },
    chains: [{ chainId: 1, account: `0x${'1'.repeat(40)}` }],
    assets: { WETH: { price: 'ETH' }, USDC: { price: 'USD' } },
    pairs: [{ base: 'WETH', quote: 'USDC' }],
    prices: {
      USD: { fixed: '1' },
      ETH: { sources: ['a', 'b'].map((feed) => ({ feed, symbol: 'ETHUSD' })), maxAgeMs: 2_000 },
    },
  });
  const write = (level: 'info' | 'warn') => (facts: object, message: string) =>
    void lines.push({ level, message, facts: facts as Record<string, unknown> });
  const log: Log = { ...silentLog, info: write('info'), warn: write('warn') };
  const feeds = ['a', 'b'].map((source) => ({
    source,
    start: (listener: FeedListener) => void (listeners[source] = listener),
    stop() {},
  }));
  const deps = { sequencers: new Map(), slug: String, clock, log, metrics };
  const prices = createPriceSources(deps, config, feeds);
  market = prices.market();
  prices.start();
  for (const feed of ['a', 'b']) listeners[feed]?.trouble?.({ kind: 'connected' });
});

test('a connected feed whose messages are all refused: one line when it begins, one when it ends', async () => {
  const both = () => (say('a', '2500'), say('b', '2501'));
  seconds(10, both);
  expect(spells()).toEqual([]);
  seconds(60, () => {
    say('a', '2500');
    for (let message = 0; message < 50; message++) refuse('b', 'future');
  });
  expect(market.mid('ETH')).toMatchObject({ value: 2_500 });
  expect(spells()).toHaveLength(1);
  expect(spells()[0]).toMatchObject({
    level: 'warn',
    facts: { price: 'ETH', source: 'b|ETHUSD', trouble: 'refused as future', refused: { why: 'future' } },
  });
  const text = await metrics.text();
  expect(text).toContain('firmquote_lp_source_refused{price="ETH",source="b|ETHUSD"} 3000\n');
  expect(text).toContain('firmquote_lp_source_refused{price="ETH",source="a|ETHUSD"} 0\n');
  expect(text).toContain('firmquote_lp_price_sources_missing{price="ETH"} 1\n');
  seconds(10, both);
  expect(spells()).toHaveLength(2);
  expect(spells()[1]).toMatchObject({ level: 'info', facts: { was: 'refused as future', refused: 3_000 } });
  expect(await metrics.text()).toContain('firmquote_lp_price_sources_missing{price="ETH"} 0\n');
});

test('a source that changes its trouble is logged again, but not with every message', () => {
  seconds(60, () => (say('a', '2500'), refuse('b', 'malformed', null), refuse('b', 'malformed', null)));
  seconds(60, () => say('a', '2500'));
  expect(spells().map(({ facts }) => facts['trouble'])).toEqual(['refused as malformed']);
  seconds(60, () => (say('a', '2500'), refuse('b', 'crossed')));
  expect(spells().map(({ facts }) => facts['trouble'])).toEqual([
    'refused as malformed',
    'refused as crossed',
  ]);
  seconds(120, () => (say('a', '2500'), refuse('b', 'empty'), seconds(1), refuse('b', 'future')));
  expect(spells().length).toBeLessThanOrEqual(10);
});

test('one of two sources is silent while the mid stands: one line, and the price says so', () => {
  seconds(300, () => say('a', '2500'));
  expect(spells()).toHaveLength(1);
  expect(spells()[0]).toMatchObject({ level: 'warn', facts: { source: 'b|ETHUSD', trouble: 'silent' } });
  seconds(1, () => say('a', '2500'));
  say('b', '2500');
  seconds(1);
  expect(spells().map(({ level }) => level)).toEqual(['warn', 'info']);
});

test('single refusals, duplicates and unknown symbols are no spell', () => {
  seconds(60, () => {
    say('a', '2500');
    say('b', '2500');
    refuse('a', 'out_of_order');
    refuse('b', 'duplicate');
    refuse('b', 'unknown_symbol', 'DOGEUSD');
    refuse('b', 'malformed', null);
  });
  expect(spells()).toEqual([]);
});

test('without a price, the detail says what each source said, and why its messages are refused', () => {
  say('a', '2500');
  seconds(9);
  refuse('b', 'crossed');
  refuse('b', 'future');
  nowMs += 1_400;
  const condition = market.condition('WETH', 'USDC');
  expect(condition).toMatchObject({
    code: 'stale_mid',
    brief: '0 of 1 sources fresh',
    detail:
      '0 of 1 sources fresh; a|ETHUSD said 2500 10.4 s ago, 2.0 s allowed; b|ETHUSD never gave a price; ' +
      '2 messages of b|ETHUSD refused since its last price, the last as future 1.4 s ago',
  });
  // Ages go on while nothing is heard.
  seconds(60);
  expect(market.condition('WETH', 'USDC')?.detail).toContain('a|ETHUSD said 2500 70.4 s ago');
});

test('attempts to connect that fail in the same way are logged once', () => {
  const fails = (detail: string) =>
    listeners['a']?.trouble?.({ kind: 'disconnected', detail, retryInMs: 10_000 });
  const failures = () => lines.filter(({ level, message }) => level === 'warn' && message === 'price feed');
  for (let attempt = 0; attempt < 100; attempt++) fails('closed with 1006');
  fails('silent');
  expect(failures().map(({ facts }) => facts['detail'])).toEqual(['closed with 1006', 'silent']);
  listeners['a']?.trouble?.({ kind: 'connected' });
  fails('closed with 1006');
  expect(failures()).toHaveLength(3);
});

test('a feed counts as connected only while something that it says can be read', async () => {
  const live = async () => /firmquote_lp_feed_connected\{feed="b"\} (\d)/.exec(await metrics.text())?.[1];
  expect(await live()).toBe('1');
  refuse('b', 'malformed');
  expect(await live()).toBe('0');
  say('b', '2500');
  expect(await live()).toBe('1');
  refuse('b', 'out_of_range');
  expect(await live()).toBe('0');
  // A message that was read and is wrong says nothing about those that follow, and neither does silence.
  say('b', '2500');
  for (const why of ['crossed', 'out_of_order', 'duplicate', 'empty', 'future'] as const) refuse('b', why);
  expect(await live()).toBe('1');
  // Garbage that names no symbol may have been any price.
  refuse('b', 'malformed', null);
  expect(await live()).toBe('0');
  listeners['b']?.trouble?.({ kind: 'connected' });
  expect(await live()).toBe('1');
});

test('a source that asks to wait: counted by reason, shown, and logged once a minute', async () => {
  const waits = (retryInMs: number) =>
    listeners['b']?.trouble?.({
      kind: 'disconnected',
      ...{ detail: `ETHUSD: status 429, "${retryInMs}"`, retryInMs, reason: 'rate_limited' },
    });
  const logged = () => lines.filter(({ facts }) => facts['feed'] === 'b').map(({ facts }) => facts['kind']);
  expect(logged()).toEqual(['connected']);
  waits(120_000);
  seconds(20);
  expect(await metrics.text()).toContain('firmquote_lp_feed_wait_seconds{feed="b"} 100\n');
  expect(await metrics.text()).toContain('firmquote_lp_feed_wait_seconds{feed="a"} 0\n');
  // It lets a question through and refuses the next, again and again.
  for (let time = 1; time <= 30; time++) {
    listeners['b']?.trouble?.({ kind: 'connected' });
    waits(1_000 + time);
  }
  expect(logged()).toEqual(['connected', 'disconnected', 'connected']);
  const text = await metrics.text();
  expect(text).toContain('firmquote_lp_feed_waits_total{feed="b",reason="rate_limited"} 31\n');
  expect(text).toContain('firmquote_lp_feed_waits_total{feed="b",reason="banned"} 0\n');
  seconds(61);
  waits(5_000);
  expect(logged().slice(3)).toEqual(['disconnected']);
});
