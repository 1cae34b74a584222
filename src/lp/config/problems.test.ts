import { expect, test } from 'vitest';
import { type LpConfig, zLpConfig } from './config.ts';
import { lpConfigProblems } from './problems.ts';

const account = `0x${'a'.repeat(40)}`;
const native = { symbol: 'ETH', priceSymbol: 'ETH' };
const token = (symbol: string, priceSymbol: string | null = null) => ({ symbol, priceSymbol });
const networks = [
  { id: 1, slug: 'one', blockTimeMs: 2_000, native, tokens: [token('USDC', 'USD'), token('WETH', 'ETH')] },
  { id: 2, slug: 'two', blockTimeMs: 2_000, native, tokens: [token('USDC', 'USD'), token('GOLD')] },
];
const config = (change: object = {}): LpConfig =>
  zLpConfig.parse({
    solver: { id: 'a', name: 'A' },
    chains: [{ chainId: 1, account }],
    prices: { USD: { fixed: '1' }, ETH: { fixed: '2500' } },
    assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH' } },
    pairs: [{ base: 'WETH', quote: 'USDC', corridors: ['one-one'] }],
    ...change,
  });

test('a consistent configuration has none', () => {
  expect(lpConfigProblems(config(), networks)).toEqual([]);
});

test.each<[string, object, string]>([
  [
    'a chain without a description',
    {
      chains: [
        { chainId: 1, account },
        { chainId: 9, account },
      ],
    },
    'chains.1.chainId: chain 9 is not described under networks',
  ],
  [
    'two accounts',
    {
      chains: [
        { chainId: 1, account },
        { chainId: 2, account: `0x${'b'.repeat(40)}` },
      ],
    },
    'chains.1.account: an LP has one account',
  ],
  [
    'a gas price that is none',
    { chains: [{ chainId: 1, account, gasPrice: 'MATIC' }] },
    'chains.0.gasPrice: there is no price named "MATIC"',
  ],
  [
    'an asset without a price',
    { assets: { USDC: { price: 'USD' }, WETH: { price: 'BTC' } } },
    'assets.WETH.price: there is no price named "BTC": add it under prices, or name one of USD, ETH',
  ],
  [
    'a pair of what is no asset',
    { pairs: [{ base: 'WETH', quote: 'DAI' }] },
    'pairs.0.quote: there is no asset "DAI"',
  ],
  [
    'a pair of what none of our chains has',
    { assets: { USDC: { price: 'USD' }, GOLD: { price: 'ETH' } }, pairs: [{ base: 'GOLD', quote: 'USDC' }] },
    'pairs.0.base: no chain of this LP has a token "GOLD"',
  ],
  [
    'a corridor to where we are not',
    { pairs: [{ base: 'WETH', quote: 'USDC', corridors: ['one-two'] }] },
    'pairs.0.corridors.0: "one-two" is no corridor between chains of this LP (one)',
  ],
  [
    'a pair both ways round',
    {
      pairs: [
        { base: 'WETH', quote: 'USDC' },
        { base: 'USDC', quote: 'WETH' },
      ],
    },
    'pairs.0: USDC-WETH is configured too',
  ],
  [
    'a chain that is always late',
    { chains: [{ chainId: 1, account, maxHeadAgeMs: 1_000 }] },
    'chains.0.maxHeadAgeMs: is 1000, below blockTimeMs = 2000 of one',
  ],
  [
    'a buffer of what the chain does not have',
    { chains: [{ chainId: 1, account, buffers: { GOLD: '5' } }] },
    'chains.0.buffers.GOLD: one has no token "GOLD", so nothing is held back: write one of USDC, WETH',
  ],
  [
    'a band on a chain without the token',
    { assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH', chains: { two: {} } } } },
    'assets.WETH.chains.two: no chain "two" of this LP has the token WETH: write one of one',
  ],
  [
    'parameters of a corridor to where we are not',
    { pairs: [{ base: 'WETH', quote: 'USDC', corridorParams: { 'one-two': { omega: 1 } } }] },
    'pairs.0.corridorParams.one-two: "one-two" is no corridor between chains of this LP (one)',
  ],
  [
    'a pair that no corridor can trade',
    {
      chains: [
        { chainId: 1, account },
        { chainId: 2, account },
      ],
      pairs: [{ base: 'WETH', quote: 'USDC', corridors: ['two-two'] }],
    },
    'pairs.0: no corridor of WETH-USDC has a token on either side, so nothing would be quoted',
  ],
])('error: %s', (_, change, sentence) => {
  expect(
    lpConfigProblems(config(change), networks).map(({ path, message }) => `${path.join('.')}: ${message}`),
  ).toEqual([expect.stringContaining(sentence)]);
});
