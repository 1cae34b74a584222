import { expect, test } from 'vitest';
import { zLpConfig } from './config.ts';
import { uncheckedPrices } from './unchecked-prices.ts';

const from = (...feeds: string[]) => feeds.map((feed) => ({ feed, symbol: 'X' }));
const warnings = (prices: object, assets: object = { USDC: { price: 'USD' }, WETH: { price: 'ETH' } }) =>
  uncheckedPrices(
    zLpConfig.parse({
      solver: { id: 'a', name: 'A' },
      chains: [{ chainId: 1, account: `0x${'a'.repeat(40)}` }],
      prices,
      assets,
      pairs: [{ base: 'WETH', quote: 'USDC' }],
    }),
    [{ id: 1, native: { symbol: 'ETH' } }],
  );
const USD = { fixed: '1', guards: from('x', 'y') };
const ETH = { sources: from('x', 'y'), references: from('z') };

test('two sources, two guards and a reference need no warning', () => {
  expect(warnings({ USD, ETH })).toEqual([]);
});

test.each<[string, object]>([
  ['prices.USD is fixed at 1 USD and has no guards', { USD: { fixed: '1' }, ETH }],
  ['prices.USD is fixed at 1 USD with guards from one feed', { USD: { fixed: '1', guards: from('x') }, ETH }],
  ['prices.ETH has no references', { USD, ETH: { sources: from('x', 'y') } }],
  ['prices.ETH has sources from one feed only:', { USD, ETH: { ...ETH, sources: from('x') } }],
  [
    'prices.ETH has sources from one feed only and has no references',
    { USD, ETH: { sources: [...from('x'), { feed: 'x', symbol: 'Y' }] } },
  ],
])('warns: %s', (sentence, prices) => {
  expect(warnings(prices)).toEqual([expect.stringContaining(sentence)]);
});

test('the price of gas counts, a price that nothing uses does not', () => {
  const assets = { USDC: { price: 'USD' }, WETH: { price: 'USD' } };
  expect(warnings({ USD, ETH: { fixed: '2500' }, OLD: { fixed: '3' } }, assets)).toEqual([
    expect.stringContaining('prices.ETH'),
  ]);
});
