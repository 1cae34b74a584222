/** Prices in memory: crossed, aged, and never older than allowed. */

import { expect, test } from 'vitest';
import type { FeedQuote } from '../ports/feed.ts';
import { zLpConfig } from './config.ts';
import { createMarket, wantedOf } from './market.ts';

const config = zLpConfig.parse({
  solver: { id: 'a', name: 'A' },
  chains: [{ chainId: 1, account: `0x${'1'.repeat(40)}` }],
  prices: {
    USD: { fixed: '1' },
    ETH: { sources: ['a', 'b', 'c'].map((feed) => ({ feed, symbol: 'ETHUSD' })), maxAgeMs: 2_000, maxDeviationBps: 50 },
    EUR: { sources: [{ feed: 'a', symbol: 'EURUSD' }] },
  },
  assets: { WETH: { price: 'ETH' }, USDC: { price: 'USD' }, EURC: { price: 'EUR' } },
  pairs: [{ base: 'WETH', quote: 'USDC' }, { base: 'WETH', quote: 'EURC' }, { base: 'USDC', quote: 'USDC' }],
});

function world() {
  let nowMs = 10_000;
  const market = createMarket({ clock: { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} } }, config);
  const say = (source: string, symbol: string, price: string): FeedQuote => ({ source, symbol, bid: price, ask: price, exchangeTimeMs: nowMs, receivedMs: nowMs, sequence: null });
  return { market, hear: (source: string, symbol: string, price: string) => market.observe(say(source, symbol, price)), pass: (ms: number) => (nowMs += ms) };
}

test('what the feeds have to deliver', () => {
  expect(wantedOf(config.prices).map(({ feed, symbol }) => `${feed} ${symbol}`)).toEqual(['a ETHUSD', 'b ETHUSD', 'c ETHUSD', 'a EURUSD']);
});

test('two of three sources make a price; one alone, or two that grew old, make none', () => {
  const { market, hear, pass } = world();
  hear('a', 'ETHUSD', '2500');
  expect(market.pair('WETH', 'USDC')).toMatchObject({ declined: 'stale_price' });
  hear('b', 'ETHUSD', '2501');
  expect(market.pair('WETH', 'USDC')).toMatchObject({ mid: { value: 2_500.5 }, quoteValue: 1 });
  pass(1_900);
  expect(market.pair('WETH', 'USDC')).toMatchObject({ mid: { value: 2_500.5 } });
  pass(101);
  expect(market.pair('WETH', 'USDC')).toMatchObject({ declined: 'stale_price' });
  expect(market.stale().map(({ symbol }) => symbol)).toEqual(['ETH', 'EUR']);
});

test('a liar is dropped', () => {
  const { market, hear } = world();
  hear('a', 'ETHUSD', '2500');
  hear('b', 'ETHUSD', '2500');
  hear('c', 'ETHUSD', '2625');
  expect(market.pair('WETH', 'USDC')).toMatchObject({ mid: { value: 2_500, dropped: [{ source: 'c|ETHUSD', why: 'deviant' }] } });
});

test('two legs cross, and the older one dates the price', () => {
  const { market, hear, pass } = world();
  hear('a', 'EURUSD', '1.25');
  pass(500);
  hear('a', 'ETHUSD', '2500');
  hear('b', 'ETHUSD', '2500');
  expect(market.pair('WETH', 'EURC')).toMatchObject({ mid: { value: expect.closeTo(2_000, 6) as number, atMs: 10_000 }, quoteValue: 1.25 });
});

test('the same asset on two chains is worth itself, whatever the feeds say', () => {
  const { market } = world();
  expect(market.pair('USDC', 'USDC')).toMatchObject({ mid: { value: 1, confidenceBps: 0 } });
});

test('a clock that jumps back does not revive an old price', () => {
  const { market, hear, pass } = world();
  hear('a', 'ETHUSD', '2500');
  hear('b', 'ETHUSD', '2500');
  market.pair('WETH', 'USDC');
  pass(-9_000);
  expect(market.pair('WETH', 'USDC')).toMatchObject({ declined: 'stale_price' });
});
