import fc from 'fast-check';
import { expect, test } from 'vitest';
import { zLpConfig } from './config.ts';
import { contradictions } from './contradictions.ts';

const account = `0x${'a'.repeat(40)}`;
const pair = { base: 'WETH', quote: 'USDC' };
const found = (change: object): string[] =>
  contradictions(
    zLpConfig.parse({
      solver: { id: 'a', name: 'A' },
      chains: [{ chainId: 1, account }],
      prices: { USD: { fixed: '1' }, ETH: { fixed: '2500' } },
      assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH' } },
      pairs: [pair],
      ...change,
    }),
  ).map(({ path, message }) => `${path.join('.')}: ${message}`);
const from = (...feeds: string[]) => feeds.map((feed) => ({ feed, symbol: 'ETH' }));

test('the defaults do not contradict each other', () => expect(found({})).toEqual([]));

test.each<[string, object]>([
  [
    'pairs.0.params.minSize: is 500, above maxSize = 100, so no request has an allowed size',
    { pairs: [{ ...pair, params: { minSize: 500, maxSize: 100 } }] },
  ],
  [
    'pairs.0.params.minSize: is 9000, above risk.fatFinger.maxUsd = 5000',
    { pairs: [{ ...pair, params: { minSize: 9_000 } }], risk: { fatFinger: { maxUsd: 5_000 } } },
  ],
  [
    'pairs.0.params.minSpreadBps: is 50, above maxSpreadBps = 20',
    { pairs: [{ ...pair, params: { minSpreadBps: 50, maxSpreadBps: 20 } }] },
  ],
  [
    'pairs.0.params.minEdgeBps: is 400, above maxSpreadBps = 300',
    { pairs: [{ ...pair, params: { minEdgeBps: 400 } }] },
  ],
  [
    'pairs.0.params.minSpreadBps: is -5, below risk.fatFinger.leastBps = 0.5',
    { pairs: [{ ...pair, params: { minSpreadBps: -5 } }] },
  ],
  [
    'pairs.0.params.minSpreadBps: is 400, above risk.fatFinger.mostBps = 300',
    { pairs: [{ ...pair, params: { minSpreadBps: 400, maxSpreadBps: 500 } }] },
  ],
  [
    'pairs.0.corridorParams.a-b.minSize: is 500, above maxSize = 100',
    { pairs: [{ ...pair, params: { maxSize: 100 }, corridorParams: { 'a-b': { minSize: 500 } } }] },
  ],
  [
    'signals.maxActive: is 16, but signals.maxSkewBps, maxFairValueShiftBps and maxWidthBps are all 0',
    { signals: { maxSkewBps: 0, maxFairValueShiftBps: 0, maxWidthBps: 0 } },
  ],
  [
    'pairs.0.corridorParams.a-b: is not among the corridors of this pair (b-b)',
    { pairs: [{ ...pair, corridors: ['b-b'], corridorParams: { 'a-b': { omega: 1 } } }] },
  ],
  [
    'pairs.1: WETH-USDC is configured in pairs.0 too, for the same corridors',
    {
      pairs: [
        { ...pair, corridors: ['a-a', 'a-b'] },
        { ...pair, corridors: ['a-b'] },
      ],
    },
  ],
  [
    'chains.1.chainId: chain 1 is configured twice, in chains.0 and here',
    {
      chains: [
        { chainId: 1, account },
        { chainId: 1, account },
      ],
    },
  ],
  [
    'prices.ETH.minSources: is 3, but sources names 2, so there is never a price',
    { prices: { USD: { fixed: '1' }, ETH: { sources: from('x', 'y'), minSources: 3 } } },
  ],
  [
    'prices.ETH.sources.1: x|ETH is named twice, in sources.0 and here, but counts once',
    { prices: { USD: { fixed: '1' }, ETH: { sources: from('x', 'x') } } },
  ],
  [
    'prices.ETH.references.0: x|ETH is also in sources.0, and a source cannot check itself',
    { prices: { USD: { fixed: '1' }, ETH: { sources: from('x'), references: from('x') } } },
  ],
  [
    'prices.USD.depegSources: is 2, but guards names 1, so no depeg is ever seen',
    { prices: { USD: { fixed: '1', guards: from('x'), depegSources: 2 }, ETH: { fixed: '2' } } },
  ],
  [
    'assets.WETH.softBand: is 20, above hardBand = 10',
    { assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH', softBand: '20', hardBand: '10' } } },
  ],
  [
    'assets.WETH.chains.one.softShare: is 1, above hardShare = 0.5',
    { assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH', chains: { one: { hardShare: 0.5 } } } } },
  ],
  [
    'quoting.validitySeconds: is 90, above quoting.maxValiditySeconds = 60',
    { quoting: { validitySeconds: 90 } },
  ],
  [
    'quoting.pointsSeconds.1: is 120, above quoting.maxValiditySeconds = 60',
    { quoting: { pointsSeconds: [5, 120] } },
  ],
  [
    'risk.drawdown.hourBps: is 200, above risk.drawdown.dayBps = 100',
    { risk: { drawdown: { hourBps: 200 } } },
  ],
  ['rebalancing.stopQ: is 0.9, not below rebalancing.startQ = 0.6', { rebalancing: { stopQ: 0.9 } }],
  ['takers.startBps: is 10, above takers.capBps = 5', { takers: { startBps: 10, capBps: 5 } }],
])('refused: %s', (sentence, change) => {
  expect(found(change)).toEqual([expect.stringContaining(sentence)]);
});

test('a fat-finger minimum above its maximum is named once there and once per pair', () => {
  expect(found({ risk: { fatFinger: { leastBps: 400 } } })).toEqual([
    expect.stringContaining('pairs.0.params.minSpreadBps: is 0.5, below risk.fatFinger.leastBps = 400'),
    expect.stringContaining('risk.fatFinger.leastBps: is 400, above risk.fatFinger.mostBps = 300'),
  ]);
});

test('one pair may be configured by corridor', () => {
  expect(
    found({
      pairs: [
        { ...pair, corridors: ['a-a'] },
        { ...pair, corridors: ['a-b'] },
      ],
    }),
  ).toEqual([]);
});

test('one guard needs no second one unless two are demanded', () => {
  expect(found({ prices: { USD: { fixed: '1', guards: from('x') }, ETH: { fixed: '2' } } })).toEqual([]);
});

test('any order of minimum and maximum is judged by their values', () => {
  fc.assert(
    fc.property(fc.nat(400_000), fc.nat(400_000), (minSize, maxSize) => {
      fc.pre(maxSize > 0);
      expect(found({ pairs: [{ ...pair, params: { minSize, maxSize } }] }).length).toBe(
        minSize > maxSize ? 1 : 0,
      );
    }),
    { numRuns: 50 },
  );
});
