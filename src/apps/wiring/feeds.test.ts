/**
 * Configured feeds through an LP's market: three recordings in three formats make one mid, and metrics show
 * every figure.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createMetrics } from '../../adapters/prometheus/metrics.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { zLpConfig } from '../../lp/config/config.ts';
import { type Market, wantedOf } from '../../lp/market/market.ts';
import { createPriceSources, type PriceSources } from '../../lp/market/price-sources.ts';
import { createRedactor } from '../../adapters/pino/redact.ts';
import { silentLog } from '../../../test/support/silent.ts';
import { zFeed } from '../config/feeds.ts';
import { createFeeds } from './feeds.ts';

let folder: string;
let running: PriceSources | undefined;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firmquote-feeds-'));
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => running?.stop());

/** Records one line per second, in the format of `firmquote feed replay`. */
function record(name: string, messages: readonly string[]): string {
  const path = join(folder, name);
  const text = messages
    .map((message, at) => `${1_723_161_254_000_000_000n + BigInt(at) * 1_000_000_000n} ${message}`)
    .join('\n');
  writeFileSync(path, path.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}

const secrets = { env: {}, redactor: createRedactor(), mounted: false };

function run(
  sections: Record<string, unknown>,
  prices: object,
): { market: Market; metrics: ReturnType<typeof createMetrics> } {
  const config = zLpConfig.parse({
    solver: { id: 'a', name: 'A' },
    chains: [{ chainId: 1, account: `0x${'1'.repeat(40)}` }],
    prices,
    assets: { WETH: { price: 'ETH' }, USDC: { price: 'USDC' } },
    pairs: [{ base: 'WETH', quote: 'USDC' }],
  });
  const feeds = createFeeds(
    Object.fromEntries(Object.entries(sections).map(([name, section]) => [name, zFeed.parse(section)])),
    wantedOf(config.prices),
    { secrets, chains: [] },
  );
  const metrics = createMetrics();
  running = createPriceSources(
    { sequencers: new Map(), slug: String, clock: systemClock, log: silentLog, metrics },
    config,
    feeds.map(({ feed }) => feed),
  );
  running.start();
  return { market: running.market(), metrics };
}

const binance = (u: number, b: string, a: string) =>
  JSON.stringify({ stream: 'ethusdc@bookTicker', data: { u, s: 'ETHUSDC', b, B: '1', a, A: '1' } });
const coinbase = (sequence: number, best_bid: string, best_ask: string) =>
  JSON.stringify({
    type: 'ticker',
    sequence,
    product_id: 'ETH-USD',
    best_bid,
    best_ask,
    time: '2024-08-08T23:54:14.000000Z',
    trade_id: sequence,
  });
const kraken = (symbol: string, bid: string, ask: string, at: number) =>
  `{"channel":"ticker","type":"update","data":[{"symbol":"${symbol}","bid":${bid},"bid_qty":1.0,"ask":${ask},"ask_qty":1.0,"timestamp":"2024-08-08T23:54:1${at}.000000Z"}]}`;

test('three accelerated recordings in three formats give one mid', async () => {
  const { market, metrics } = run(
    {
      b: {
        kind: 'file',
        path: record('b.jsonl.gz', [
          binance(1, '2499', '2501'),
          binance(1, '2499', '2501'),
          binance(2, '2500', '2502'),
        ]),
        speed: 100,
        loop: true,
      },
      c: {
        kind: 'file',
        path: record('c.jsonl', [coinbase(5, '2500', '2502'), coinbase(4, '1', '2')]),
        format: 'coinbase',
        speed: 100,
        loop: true,
      },
      k: {
        kind: 'file',
        path: record('k.jsonl', [kraken('ETH/USD', '2500', '2502', 4), kraken('ETH/USD', '2503', '2502', 5)]),
        format: 'kraken',
        speed: 100,
        loop: true,
      },
      peg: { kind: 'constant', prices: { 'USDC/USD': '0.9995', 'UNUSED/USD': '7' }, everyMs: 20 },
    },
    {
      ETH: {
        sources: [
          { feed: 'b', symbol: 'ETHUSDC' },
          { feed: 'c', symbol: 'ETH-USD' },
          { feed: 'k', symbol: 'ETH/USD' },
        ],
      },
      USDC: { fixed: '1', guards: [{ feed: 'peg', symbol: 'USDC/USD' }] },
    },
  );
  await vi.waitFor(
    () =>
      expect(market.pair('WETH', 'USDC')).toMatchObject({
        mid: {
          value: expect.closeTo(2_501, 9) as number,
          used: expect.arrayContaining(['b|ETHUSDC', 'c|ETH-USD', 'k|ETH/USD']) as string[],
        },
        quoteValue: 1,
        depegged: false,
      }),
    { timeout: 40_000, interval: 10 },
  );
  const refusals = [
    'feed="b",outcome="duplicate"',
    'feed="c",outcome="out_of_order"',
    'feed="k",outcome="crossed"',
  ];
  let text = '';
  await vi.waitFor(async () => {
    text = await metrics.text();
    for (const labels of refusals) expect(text).toContain(`firmquote_lp_feed_messages_total{${labels}}`);
  }, 40_000);
  expect(text).toMatch(/firmquote_lp_source_price\{price="USDC",source="peg\|USDC\/USD"\} 0\.9995\n/);
  expect(text).toMatch(/firmquote_lp_source_used\{price="USDC",source="peg\|USDC\/USD"\} 1\n/);
  expect(text).toMatch(/firmquote_lp_source_age_seconds\{price="ETH",source="b\|ETHUSDC"\} [0-9.]+\n/);
  expect(text).toMatch(/firmquote_lp_mid\{pair="WETH-USDC"\} 250[01](\.\d+)?\n/);
  expect(text).toMatch(/firmquote_lp_mid_confidence_bps\{pair="WETH-USDC"\} [0-9.]+\n/);
  expect(text).toMatch(/firmquote_lp_price_condition\{pair="WETH-USDC",code="deviation"\} 0\n/);
  expect(text).toMatch(/firmquote_lp_feed_messages_total\{feed="peg",outcome="quote"\} \d+\n/);
  expect(text).not.toContain('UNUSED');
});

test('metrics show a feed that disconnects, and the price that becomes stale', async () => {
  const { market, metrics } = run(
    {
      once: { kind: 'file', path: record('once.jsonl', [binance(1, '2499', '2501')]) },
      ref: { kind: 'constant', prices: { 'ETH/USD': '2600' }, everyMs: 20 },
    },
    {
      USDC: { fixed: '1' },
      ETH: {
        sources: [{ feed: 'once', symbol: 'ETHUSDC' }],
        maxAgeMs: 2_000,
        references: [{ feed: 'ref', symbol: 'ETH/USD' }],
      },
    },
  );
  await vi.waitFor(() => expect(market.condition('WETH', 'USDC')).toMatchObject({ code: 'deviation' }), {
    timeout: 40_000,
    interval: 5,
  });
  let text = await metrics.text();
  expect(text).toMatch(
    /firmquote_lp_reference_deviation_bps\{price="ETH",reference="ref\|ETH\/USD"\} 400\n|firmquote_lp_reference_deviation_bps\{price="ETH",reference="ref\|ETH\/USD"\} (399\.99|400\.00)\d+\n/,
  );
  expect(text).toMatch(/firmquote_lp_reference_allowed_bps\{price="ETH",reference="ref\|ETH\/USD"\} 100\n/);
  expect(text).toMatch(/firmquote_lp_price_condition\{pair="WETH-USDC",code="deviation"\} 1\n/);
  await vi.waitFor(() => expect(market.condition('WETH', 'USDC')).toMatchObject({ code: 'stale_mid' }), {
    timeout: 40_000,
    interval: 20,
  });
  await vi.waitFor(
    async () => expect(await metrics.text()).toMatch(/firmquote_lp_feed_connected\{feed="once"\} 0\n/),
    40_000,
  );
  text = await metrics.text();
  expect(text).toMatch(/firmquote_lp_feed_disconnects_total\{feed="once"\} 1\n/);
  expect(text).toMatch(/firmquote_lp_price_condition\{pair="WETH-USDC",code="stale_mid"\} 1\n/);
  expect(text).toMatch(/firmquote_lp_mid\{pair="WETH-USDC"\} nan\n/i);
  expect(text).toMatch(
    /firmquote_lp_reference_deviation_bps\{price="ETH",reference="ref\|ETH\/USD"\} nan\n/i,
  );
});

test('expands variables in URLs, and refuses feeds that cannot work', () => {
  const wanted = [{ feed: 'x', symbol: 'A', use: 'price' as const }];
  const x = zFeed.parse({ kind: 'http', url: 'https://prices.example/${KEY}/{symbol}', bid: 'b', ask: 'a' });
  expect(() => createFeeds({ x }, wanted, { secrets, chains: [] })).toThrow('KEY');
  expect(
    createFeeds({ x }, wanted, { secrets: { ...secrets, env: { KEY: 'k' } }, chains: [] }).map(
      ({ feed }) => feed.source,
    ),
  ).toEqual(['x']);
  expect(() => createFeeds({}, wanted, { secrets, chains: [] })).toThrow(
    'The price feeds cannot work: a price is taken from the feed "x", which is not configured',
  );
});
