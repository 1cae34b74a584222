/** Prices in memory: crossed, aged, and never older than allowed. */

import { describe, expect, test } from 'vitest';
import type { FeedPrice, Sequencer } from '../../ports/feed.ts';
import { zLpConfig } from '../config/config.ts';
import { createMarket, wantedOf } from './market.ts';

const base = {
  solver: { id: 'a', name: 'A' },
  chains: [{ chainId: 1, account: `0x${'1'.repeat(40)}` }],
  assets: { WETH: { price: 'ETH' }, USDC: { price: 'USD' }, EURC: { price: 'EUR' } },
  pairs: [
    { base: 'WETH', quote: 'USDC' },
    { base: 'WETH', quote: 'EURC' },
    { base: 'USDC', quote: 'USDC' },
  ],
};
const prices = {
  USD: { fixed: '1' },
  ETH: {
    sources: ['a', 'b', 'c'].map((feed) => ({ feed, symbol: 'ETHUSD' })),
    maxAgeMs: 2_000,
    maxDeviationBps: 50,
  },
  EUR: { sources: [{ feed: 'a', symbol: 'EURUSD' }] },
};
const config = zLpConfig.parse({ ...base, prices });

function world(overrides: object = {}, sequencers?: ReadonlyMap<number, Sequencer>) {
  let nowMs = 10_000;
  const deps = {
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} },
    ...(sequencers && { sequencers }),
  };
  const market = createMarket(deps, zLpConfig.parse({ ...base, prices: { ...prices, ...overrides } }));
  const say = (source: string, symbol: string, price: string, more: Partial<FeedPrice>): FeedPrice => ({
    source,
    symbol,
    bid: price,
    ask: price,
    exchangeTimeMs: nowMs,
    receivedMs: nowMs,
    sequence: null,
    ...more,
  });
  const feedPrice = (source: string, symbol: string, price: string, more: Partial<FeedPrice> = {}) =>
    market.observe(say(source, symbol, price, more));
  return {
    /** The market of a reload with these prices, not in force. */
    another: (more: object = {}) =>
      createMarket(deps, zLpConfig.parse({ ...base, prices: { ...prices, ...overrides, ...more } })),
    market,
    feedPrice,
    pass: (ms: number) => (nowMs += ms),
    now: () => nowMs,
    eth: (price: string) => ['a', 'b', 'c'].forEach((feed) => feedPrice(feed, 'ETHUSD', price)),
    value: (base = 'WETH', quote = 'USDC') => {
      const price = market.pair(base, quote);
      return 'declined' in price ? price : price.mid.value;
    },
  };
}

test('lists what the feeds have to deliver', () => {
  expect(wantedOf(config.prices).map(({ feed, symbol }) => `${feed} ${symbol}`)).toEqual([
    'a ETHUSD',
    'b ETHUSD',
    'c ETHUSD',
    'a EURUSD',
  ]);
});

test('two of three sources make a price; one alone, or two stale ones, do not', () => {
  const { market, feedPrice, pass } = world();
  feedPrice('a', 'ETHUSD', '2500');
  expect(market.pair('WETH', 'USDC')).toMatchObject({ declined: 'stale_price' });
  feedPrice('b', 'ETHUSD', '2501');
  expect(market.pair('WETH', 'USDC')).toMatchObject({ mid: { value: 2_500.5 }, quoteValue: 1 });
  pass(1_900);
  expect(market.pair('WETH', 'USDC')).toMatchObject({ mid: { value: 2_500.5 } });
  pass(101);
  expect(market.pair('WETH', 'USDC')).toMatchObject({ declined: 'stale_price' });
  expect(market.stale()).toEqual([
    {
      symbol: 'ETH',
      detail:
        '0 of 2 sources fresh; a|ETHUSD said 2500 2.0 s ago, 2.0 s allowed; b|ETHUSD said 2501 2.0 s ago, 2.0 s allowed; c|ETHUSD never gave a price',
    },
    { symbol: 'EUR', detail: '0 of 1 sources fresh; a|EURUSD never gave a price' },
  ]);
});

test('two sources that disagree make no price, until one of them is stale', () => {
  const { feedPrice, pass, value } = world({
    ETH: {
      sources: [
        { feed: 'a', symbol: 'ETHUSD' },
        { feed: 'b', symbol: 'ETHUSD' },
      ],
    },
  });
  feedPrice('a', 'ETHUSD', '2500');
  pass(1_000);
  feedPrice('b', 'ETHUSD', '2600');
  expect(value()).toMatchObject({
    declined: 'stale_price',
    detail:
      'ETH: 0 of 1 sources agree; a|ETHUSD says 2500, 196.1 bps from the median 2550: 50 are allowed; ' +
      'b|ETHUSD says 2600, 196.1 bps from the median 2550: 50 are allowed',
  });
  pass(1_001);
  expect(value()).toBe(2_600);
});

test('drops one wrong source', () => {
  const { market, feedPrice } = world();
  feedPrice('a', 'ETHUSD', '2500');
  feedPrice('b', 'ETHUSD', '2500');
  feedPrice('c', 'ETHUSD', '2625');
  expect(market.pair('WETH', 'USDC')).toMatchObject({
    mid: { value: 2_500, dropped: [{ source: 'c|ETHUSD', why: 'deviant' }] },
  });
});

test('a cross rate has the time of its older leg', () => {
  const { market, feedPrice, pass } = world();
  feedPrice('a', 'EURUSD', '1.25');
  pass(500);
  feedPrice('a', 'ETHUSD', '2500');
  feedPrice('b', 'ETHUSD', '2500');
  expect(market.pair('WETH', 'EURC')).toMatchObject({
    mid: { value: expect.closeTo(2_000, 6) as number, atMs: 10_000 },
    quoteValue: 1.25,
  });
});

test('one asset on two chains has price one, whatever the feeds say', () => {
  const { market } = world();
  expect(market.pair('USDC', 'USDC')).toMatchObject({ mid: { value: 1, confidenceBps: 0 } });
});

test('a clock that jumps back does not make a stale price fresh', () => {
  const { market, feedPrice, pass } = world();
  feedPrice('a', 'ETHUSD', '2500');
  feedPrice('b', 'ETHUSD', '2500');
  market.pair('WETH', 'USDC');
  pass(-9_000);
  expect(market.pair('WETH', 'USDC')).toMatchObject({ declined: 'stale_price' });
});

test("a price has its source's timestamp: a late one is old, and a fast clock makes none younger", () => {
  const { market, feedPrice, pass, now, value } = world();
  feedPrice('a', 'ETHUSD', '2500', { exchangeTimeMs: now() - 1_500 });
  feedPrice('b', 'ETHUSD', '2500', { exchangeTimeMs: now() + 900 });
  expect(market.pair('WETH', 'USDC')).toMatchObject({ mid: { atMs: now() - 1_500 } });
  pass(501);
  expect(value()).toMatchObject({ declined: 'stale_price', control: 'stale_mid' });
  feedPrice('a', 'ETHUSD', '2500', { exchangeTimeMs: now() - 2_001 });
  expect(value()).toMatchObject({ declined: 'stale_price' });
});

test('sources have their configured weight, and half of it without timestamps', () => {
  const sources = [
    { feed: 'a', symbol: 'ETHUSD', weight: 3 },
    { feed: 'b', symbol: 'ETHUSD' },
    { feed: 'c', symbol: 'ETHUSD' },
  ];
  const { feedPrice, value } = world({ ETH: { sources } });
  feedPrice('a', 'ETHUSD', '2500');
  feedPrice('b', 'ETHUSD', '2504');
  feedPrice('c', 'ETHUSD', '2505');
  expect(value()).toBe(2_500);
  feedPrice('a', 'ETHUSD', '2500', { exchangeTimeMs: null });
  // 3 against 2 and 2.
  expect(value()).toBe(2_504);
});

test('a push oracle is a source within its heartbeat, and dates the mid', () => {
  const sources = [
    { feed: 'oracle', symbol: 'EUR/USD', maxAgeMs: 86_400_000 },
    { feed: 'a', symbol: 'EURUSD' },
  ];
  const { market, feedPrice, pass, value } = world({ EUR: { sources, maxAgeMs: 2_000 } });
  feedPrice('oracle', 'EUR/USD', '1.1');
  pass(3_600_000);
  expect(value('WETH', 'EURC')).toMatchObject({ detail: expect.stringContaining('ETH') });
  expect(market.mid('EUR')).toMatchObject({ value: 1.1, atMs: 10_000 });
  feedPrice('a', 'EURUSD', '1.1002');
  expect(market.mid('EUR')).toMatchObject({ atMs: 10_000, used: ['oracle|EUR/USD', 'a|EURUSD'] });
  pass(2_001);
  expect(market.mid('EUR')).toMatchObject({
    used: ['oracle|EUR/USD'],
    dropped: [{ source: 'a|EURUSD', why: 'stale' }],
  });
});

test('recomputes a price only when an input arrives or grows stale', () => {
  const { market, eth, pass } = world();
  eth('2500');
  const first = market.pair('WETH', 'USDC');
  pass(1_000);
  expect(market.pair('WETH', 'USDC')).toBe(first);
  eth('2500');
  expect(market.pair('WETH', 'USDC')).not.toBe(first);
});

test('reports every input with its age and result', () => {
  const { market, feedPrice, pass, now } = world();
  feedPrice('a', 'ETHUSD', '2500');
  pass(1_500);
  feedPrice('b', 'ETHUSD', '2501');
  feedPrice('c', 'ETHUSD', '2700');
  const price = market.pair('WETH', 'USDC');
  if ('declined' in price) throw new Error(price.detail);
  expect(price.base.mid?.seen.map(({ source, atMs }) => [source, now() - atMs])).toEqual([
    ['a|ETHUSD', 1_500],
    ['b|ETHUSD', 0],
    ['c|ETHUSD', 0],
  ]);
  expect(market.sources().filter(({ price: symbol }) => symbol === 'ETH')).toEqual([
    {
      ...{
        price: 'ETH',
        feed: 'a',
        symbol: 'ETHUSD',
        role: 'source',
        value: 2_500,
        atMs: 10_000,
        use: 'used',
      },
      ...{ ageMs: 1_500, allowedAgeMs: 2_000, offBps: expect.closeTo(2, 1) as number, allowedBps: 50 },
      ...{ refused: undefined, trouble: undefined },
    },
    expect.objectContaining({ feed: 'b', value: 2_501, ageMs: 0, use: 'used', trouble: undefined }),
    expect.objectContaining({
      ...{ feed: 'c', value: 2_700, use: 'deviant', trouble: 'deviant' },
      offBps: expect.closeTo(797.8, 1) as number,
    }),
  ]);
  expect(market.sources().at(-1)).toMatchObject({ price: 'EUR', use: 'silent', value: undefined });
});

test('a stale mid is missing since the time it became stale', () => {
  const { market, eth, pass } = world();
  expect(market.condition('WETH', 'USDC')).toEqual({
    code: 'stale_mid',
    blocks: true,
    brief: '0 of 2 sources fresh',
    detail:
      '0 of 2 sources fresh; a|ETHUSD never gave a price; b|ETHUSD never gave a price; c|ETHUSD never gave a price',
    sinceMs: 10_000,
  });
  eth('2500');
  expect(market.condition('WETH', 'USDC')).toBeUndefined();
  pass(9_000);
  expect(market.condition('WETH', 'USDC')).toMatchObject({
    code: 'stale_mid',
    sinceMs: 12_000,
    detail:
      '0 of 2 sources fresh; a|ETHUSD said 2500 9.0 s ago, 2.0 s allowed; ' +
      'b|ETHUSD said 2500 9.0 s ago, 2.0 s allowed; c|ETHUSD said 2500 9.0 s ago, 2.0 s allowed',
  });
  pass(1_000);
  expect(market.condition('WETH', 'USDC')).toMatchObject({ sinceMs: 12_000 });
});

test('sources that disagree too much are a condition of that pair', () => {
  const { market, feedPrice } = world();
  feedPrice('a', 'ETHUSD', '2500');
  feedPrice('b', 'ETHUSD', '2510');
  expect(market.condition('WETH', 'USDC')).toMatchObject({
    code: 'confidence',
    blocks: true,
    sinceMs: 10_000,
  });
  feedPrice('b', 'ETHUSD', '2500.5');
  expect(market.condition('WETH', 'USDC')).toBeUndefined();
});

describe('references', () => {
  const references = [
    { feed: 'oracle', symbol: 'ETH/USD', deviationBps: 50, maxAgeMs: 3_600_000 },
    { feed: 'pool', symbol: 'WETH/USDC', maxAgeMs: 3_600_000 },
  ];
  const guarded = () => world({ ETH: { ...prices.ETH, references, guardBps: 100 } });

  test('a configured reference without any value stops quoting', () => {
    const { eth, value } = guarded();
    eth('2500');
    expect(value()).toMatchObject({
      declined: 'stale_price',
      control: 'deviation',
      detail:
        'ETH: no reference is fresh, so nothing checks the mid; oracle|ETH/USD never gave a price; pool|WETH/USDC never gave a price',
    });
  });

  test('a deviation of exactly the guard passes, more does not, and either reference can stop', () => {
    const { market, eth, feedPrice, value } = guarded();
    eth('2500');
    feedPrice('oracle', 'ETH/USD', '2475');
    expect(value()).toBe(2_500);
    expect(market.pair('WETH', 'USDC')).toMatchObject({
      references: [
        {
          source: 'oracle|ETH/USD',
          value: 2_475,
          atMs: 10_000,
          deviationBps: expect.closeTo(100, 6) as number,
          allowedBps: 100,
          stale: false,
        },
      ],
    });
    feedPrice('oracle', 'ETH/USD', '2474.9');
    expect(value()).toMatchObject({
      declined: 'stale_price',
      control: 'deviation',
      detail: expect.stringContaining(
        'oracle|ETH/USD says 2474.9, 100.4 bps from the mid: 100.0 are allowed',
      ),
    });
    expect(market.references()).toMatchObject([
      {
        price: 'ETH',
        source: 'oracle|ETH/USD',
        checked: { deviationBps: expect.closeTo(100.4, 6) as number, allowedBps: 100 },
      },
      { source: 'pool|WETH/USDC', checked: undefined },
    ]);
    feedPrice('oracle', 'ETH/USD', '2490');
    expect(value()).toBe(2_500);
    market.refer({ source: 'pool', symbol: 'WETH/USDC', price: '2530', atMs: 10_000 });
    expect(market.condition('WETH', 'EURC')).toMatchObject({ code: 'deviation', blocks: true });
    eth('2510');
    expect(value()).toBe(2_510);
  });

  test('the allowed deviation is the threshold plus twice the confidence', () => {
    const { feedPrice, value } = world({
      ETH: {
        ...prices.ETH,
        maxDeviationBps: 500,
        references: [{ ...references[0], deviationBps: 90 }],
        guardBps: 100,
      },
    });
    feedPrice('a', 'ETHUSD', '2490');
    feedPrice('b', 'ETHUSD', '2500');
    feedPrice('c', 'ETHUSD', '2510');
    // MAD 10 is 59.3 bps of confidence: 90 + 118.6 are allowed.
    feedPrice('oracle', 'ETH/USD', '2449');
    expect(value()).toBe(2_500);
    feedPrice('oracle', 'ETH/USD', '2447');
    expect(value()).toMatchObject({ control: 'deviation' });
  });

  test('a stale reference does not stop quoting, unless it was the last one', () => {
    const { market, eth, feedPrice, pass, value } = guarded();
    eth('2500');
    feedPrice('oracle', 'ETH/USD', '2000');
    expect(value()).toMatchObject({ control: 'deviation' });
    pass(3_599_000);
    market.refer({ source: 'pool', symbol: 'WETH/USDC', price: '2501', atMs: 3_609_000 });
    pass(1_500);
    eth('2500');
    expect(value()).toBe(2_500);
    pass(3_600_000);
    eth('2500');
    expect(value()).toMatchObject({ detail: expect.stringContaining('no reference is fresh') });
  });

  test('a reference from before our clock was set back is not fresh', () => {
    const { eth, feedPrice, pass, value } = guarded();
    pass(10_000_000);
    feedPrice('oracle', 'ETH/USD', '2500');
    pass(-9_000_000);
    eth('2500');
    expect(value()).toMatchObject({ detail: expect.stringContaining('no reference is fresh') });
    feedPrice('oracle', 'ETH/USD', '2500');
    expect(value()).toBe(2_500);
  });

  test('a reference never becomes the mid', () => {
    const { market, feedPrice, value } = guarded();
    feedPrice('oracle', 'ETH/USD', '2500');
    market.refer({ source: 'pool', symbol: 'WETH/USDC', price: '2500', atMs: 10_000 });
    market.refer({ source: 'a', symbol: 'ETHUSD', price: '2500', atMs: 10_000 });
    market.refer({ source: 'b', symbol: 'ETHUSD', price: '2500', atMs: 10_000 });
    expect(value()).toMatchObject({ control: 'stale_mid' });
  });
});

describe('a peg', () => {
  const guards = [
    { feed: 'kraken', symbol: 'USDC/USD' },
    { feed: 'oracle', symbol: 'USDC/USD', maxAgeMs: 3_600_000 },
    { feed: 'rest', symbol: 'USDC-USD' },
  ];
  const pegged = (more: object = {}) =>
    world({ USD: { fixed: '1', guards, guardMaxAgeMs: 60_000, ...more } });

  test('holds while its guards agree, and does not date the price', () => {
    const { market, eth, feedPrice, value } = pegged();
    eth('2500');
    expect(value()).toMatchObject({
      declined: 'stale_price',
      control: 'stale_mid',
      detail: expect.stringContaining(
        'USD: no guard of the peg is fresh; kraken|USDC/USD never gave a price',
      ),
    });
    feedPrice('kraken', 'USDC/USD', '0.9990');
    feedPrice('oracle', 'USDC/USD', '1.0001');
    expect(market.pair('WETH', 'USDC')).toMatchObject({
      mid: { value: 2_500, atMs: 10_000 },
      quoteValue: 1,
      depegged: false,
    });
    expect(market.condition('WETH', 'USDC')).toBeUndefined();
  });

  test('one deviating source does not break it; two do, and then the market price counts', () => {
    const { market, eth, feedPrice } = pegged();
    eth('2500');
    feedPrice('oracle', 'USDC/USD', '1');
    feedPrice('kraken', 'USDC/USD', '0.9969');
    expect(market.pair('WETH', 'USDC')).toMatchObject({ quoteValue: 1, depegged: false });
    feedPrice('rest', 'USDC-USD', '0.9965');
    const price = market.pair('WETH', 'USDC');
    // The oracle lags at 1: the median of the three.
    expect(price).toMatchObject({
      quoteValue: 0.9969,
      depegged: true,
      mid: { value: expect.closeTo(2_500 / 0.9969, 6) as number },
    });
    expect(market.condition('WETH', 'USDC')).toMatchObject({
      code: 'depeg',
      blocks: false,
      detail: expect.stringContaining(
        '0.9969 instead of 1 (30 bps allowed): priced at market, without rebates',
      ),
    });
    if (!('declined' in price)) expect(price.sigma).toBeGreaterThanOrEqual(0.4);
    // Both ways.
    expect(market.pair('USDC', 'USDC')).toMatchObject({ mid: { value: 1 }, depegged: true });
  });

  test('exactly 30 bps is within the peg', () => {
    const { market, eth, feedPrice } = pegged();
    eth('2500');
    feedPrice('kraken', 'USDC/USD', '0.997');
    feedPrice('rest', 'USDC-USD', '1.003');
    expect(market.pair('WETH', 'USDC')).toMatchObject({ depegged: false });
  });

  test('is restored only when every source is halfway back', () => {
    const { market, eth, feedPrice } = pegged({ guards: guards.slice(0, 2) });
    const both = (price: string) =>
      ['kraken', 'oracle'].forEach((feed) => feedPrice(feed, 'USDC/USD', price));
    eth('2500');
    both('0.99');
    expect(market.pair('WETH', 'USDC')).toMatchObject({ depegged: true });
    both('0.998');
    expect(market.pair('WETH', 'USDC')).toMatchObject({ depegged: true, quoteValue: 0.998 });
    feedPrice('kraken', 'USDC/USD', '0.9986');
    expect(market.pair('WETH', 'USDC')).toMatchObject({ depegged: true });
    feedPrice('oracle', 'USDC/USD', '0.9985');
    expect(market.pair('WETH', 'USDC')).toMatchObject({ depegged: false, quoteValue: 1 });
  });

  test('a broken peg is never 1: without sources there is no price', () => {
    const { market, eth, feedPrice, pass, value } = pegged();
    eth('2500');
    feedPrice('kraken', 'USDC/USD', '0.95');
    feedPrice('rest', 'USDC-USD', '0.951');
    expect(market.pair('WETH', 'USDC')).toMatchObject({ depegged: true });
    pass(60_001);
    eth('2500');
    expect(value()).toMatchObject({ declined: 'stale_price', control: 'depeg' });
    expect(market.condition('USDC', 'USDC')).toMatchObject({ code: 'depeg', blocks: true });
    // One of two that spoke comes back: still not enough to know.
    feedPrice('kraken', 'USDC/USD', '1');
    expect(value()).toMatchObject({ control: 'depeg' });
    feedPrice('rest', 'USDC-USD', '1');
    expect(value()).toBe(2_500);
  });

  test('a single deviating source stops quoting until another confirms or denies it', () => {
    const { eth, feedPrice, value } = pegged();
    eth('2500');
    feedPrice('kraken', 'USDC/USD', '0.97');
    expect(value()).toMatchObject({
      declined: 'stale_price',
      control: 'depeg',
      detail: expect.stringContaining(
        'USD: kraken|USDC/USD is 300 bps off 1 (30 allowed), and no second source is fresh to say whether that is so',
      ),
    });
    feedPrice('oracle', 'USDC/USD', '0.9999');
    expect(value()).toBe(2_500);
  });

  test('without guards it is trusted', () => {
    const { market, eth, pass } = world();
    pass(1e9);
    eth('2500');
    expect(market.pair('WETH', 'USDC')).toMatchObject({ quoteValue: 1, depegged: false });
  });
});

test('many prices are checked in batches, and a missing one is reported until it is there', () => {
  const many = Object.fromEntries(
    Array.from({ length: 200 }, (_, at) => [`T${at}`, { sources: [{ feed: 'a', symbol: `T${at}` }] }]),
  );
  const { market, feedPrice } = world(many);
  for (let look = 0; look < 4; look++) market.stale();
  expect(market.stale()).toHaveLength(202);
  for (let at = 0; at < 200; at++) feedPrice('a', `T${at}`, '1');
  expect(
    market
      .stale()
      .map(({ symbol }) => symbol)
      .sort(),
  ).toEqual(['ETH', 'EUR']);
});

test('a stopped sequencer is a condition of its chain alone', () => {
  const sequencer: Sequencer = {
    chainId: 8453,
    state: () => ({ up: false, sinceMs: 7, detail: 'its sequencer is down' }),
    start() {},
    stop() {},
  };
  const { market } = world({}, new Map([[8453, sequencer]]));
  expect(market.chainCondition(8453)).toMatchObject({
    code: 'sequencer',
    blocks: true,
    detail: 'its sequencer is down',
    sinceMs: 7,
  });
  expect(market.chainCondition(1)).toBeUndefined();
});

test('a very volatile minute, and the floor of both legs', () => {
  const { market, eth, pass } = world({ ETH: { ...prices.ETH, sigmaFloor: 0.5 } });
  const second = (bps: number, at: number) => {
    eth((2_500 * (1 + (at % 2) * bps * 1e-4)).toFixed(6));
    for (let quarter = 0; quarter < 4; quarter++) market.tick();
    pass(1_000);
  };
  for (let at = 0; at < 1_200; at++) second(0.5, at);
  expect(market.pair('WETH', 'USDC')).toMatchObject({
    sigma: 0.5,
    volatilityRatio: expect.closeTo(1, 3) as number,
  });
  for (let at = 0; at < 60; at++) second(10, at);
  const price = market.pair('WETH', 'USDC');
  if (!('declined' in price)) {
    expect(price.volatilityRatio).toBeGreaterThan(3);
    expect(price.sigma).toBeGreaterThan(3);
  }
});

test('a market that replaces another one keeps the prices of feeds that stay, pegs and volatilities', () => {
  const guard = { feed: 'a', symbol: 'USDUSD' };
  const { market, another, eth, feedPrice, pass } = world({
    USD: { fixed: '1', guards: [guard], depegSources: 1 },
  });
  for (let at = 0; at < 120; at++) {
    eth(String(2_500 + (at % 2) * 10));
    feedPrice('a', 'USDUSD', at < 60 ? '0.99' : '0.9975');
    for (let quarter = 0; quarter < 4; quarter++) market.tick();
    pass(1_000);
  }
  const before = market.pair('WETH', 'USDC');
  if ('declined' in before) throw new Error(before.declined);
  expect(before).toMatchObject({ depegged: true, base: { mid: { value: 2_510 } } });

  const same = another();
  expect(same.adopt(market, () => true)).toEqual([]);
  expect(same.pair('WETH', 'USDC')).toMatchObject({
    depegged: true,
    sigma: before.sigma,
    volatilityRatio: before.volatilityRatio,
    mid: { price: before.mid.price },
  });

  // Feed c is gone, d has said another price than the others, and the step to it is no move of the market.
  const moved = another({ ETH: { sources: ['b', 'd'].map((feed) => ({ feed, symbol: 'ETHUSD' })) } });
  moved.observe({
    ...{ source: 'd', symbol: 'ETHUSD', bid: '2518', ask: '2518' },
    ...{ exchangeTimeMs: null, receivedMs: 130_000, sequence: null },
  });
  expect(moved.adopt(market, (feed) => feed !== 'c').map(({ base, quote }) => `${base}-${quote}`)).toEqual([
    'WETH-USDC',
    'WETH-EURC',
  ]);
  for (let quarter = 0; quarter < 4; quarter++) moved.tick();
  expect(moved.pair('WETH', 'USDC')).toMatchObject({
    base: { mid: { used: ['d|ETHUSD', 'b|ETHUSD'] } },
    sigma: before.sigma,
    depegged: true,
  });
  expect(moved.sources().map(({ feed, value }) => [feed, value])).toContainEqual(['b', 2_510]);
});
