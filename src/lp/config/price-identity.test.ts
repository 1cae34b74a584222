import fc from 'fast-check';
import { expect, test } from 'vitest';
import { zLpConfig } from './config.ts';
import { priceIdentityProblems, readMarketSymbol, unknownWorths } from './price-identity.ts';

const account = `0x${'a'.repeat(40)}`;
const token = (symbol: string, priceSymbol: string | null) => ({ symbol, priceSymbol });
const TOKENS = [token('USDC', 'USD'), token('WETH', 'ETH'), token('WBTC', 'BTC'), token('GOLD', null)];
const network = { id: 1, slug: 'one', native: { symbol: 'ETH', priceSymbol: 'ETH' }, tokens: TOKENS };
const from = (...symbols: string[]) => symbols.map((symbol, at) => ({ feed: `f${at}`, symbol }));
const PRICES = { USD: { fixed: '1' }, ETH: { sources: from('ETHUSDC', 'ETH-USD') }, BTC: { fixed: '60000' } };
const ASSETS = { USDC: { price: 'USD' }, WETH: { price: 'ETH' } };

const config = (change: object) =>
  zLpConfig.parse({
    solver: { id: 'a', name: 'A' },
    chains: [{ chainId: 1, account }],
    prices: PRICES,
    assets: ASSETS,
    pairs: [{ base: 'WETH', quote: 'USDC' }],
    ...change,
  });
const problems = (change: object, networks = [network]) =>
  priceIdentityProblems(config(change), networks).map(({ path, message }) => `${path.join('.')}: ${message}`);

test('each asset with its own price has none, whatever the price is called', () => {
  expect(problems({})).toEqual([]);
  const named = { 'dollar by decree': { fixed: '1' }, 'ether of the desk': PRICES.ETH, ETH: PRICES.ETH };
  const assets = { USDC: { price: 'dollar by decree' }, WETH: { price: 'ether of the desk' } };
  expect(problems({ prices: named, assets })).toEqual([]);
  expect(problems({ assets: { ...ASSETS, GOLD: { price: 'BTC' } } })).toEqual([]);
});

test.each<[string, object, RegExp]>([
  [
    'ether for a dollar',
    { assets: { ...ASSETS, WETH: { price: 'USD' } } },
    /^assets\.WETH\.price: is "USD", but WETH on one is worth ETH .* the price of USDC: name the price of ETH/,
  ],
  [
    'bitcoin for ether',
    { assets: { ...ASSETS, WBTC: { price: 'ETH' } } },
    /^assets\.WBTC\.price: is "ETH", but WBTC on one is worth BTC/,
  ],
  [
    'a dollar for ether, as gas',
    { chains: [{ chainId: 1, account, gasPrice: 'USD' }] },
    /^chains\.0\.gasPrice: is "USD", but the gas of one is worth ETH/,
  ],
  [
    'a market of bitcoin among the sources of ether',
    { prices: { ...PRICES, ETH: { sources: from('ETHUSDC', 'BTCUSDC') } } },
    /^prices\.ETH\.sources\.1\.symbol: is BTCUSDC, a price of BTC, but WETH on one is worth ETH/,
  ],
  [
    'the same by another name',
    {
      prices: { ...PRICES, desk: { sources: from('XBT/USD') } },
      assets: { ...ASSETS, WETH: { price: 'desk' } },
    },
    /^prices\.desk\.sources\.0\.symbol: is XBT\/USD, a price of XBT/,
  ],
  [
    'a market of bitcoin as reference',
    {
      prices: {
        ...PRICES,
        ETH: { ...PRICES.ETH, references: [{ feed: 'c', symbol: 'BTC/USD', deviationBps: 9 }] },
      },
    },
    /^prices\.ETH\.references\.0\.symbol: is BTC\/USD/,
  ],
  [
    'ether as guard of a dollar',
    { prices: { ...PRICES, USD: { fixed: '1', guards: from('ETH/USD') } } },
    /^prices\.USD\.guards\.0\.symbol: is ETH\/USD, a price of ETH, but USDC on one is worth USD/,
  ],
  [
    'two currencies in one price',
    { prices: { ...PRICES, ETH: { sources: from('ETHUSDT', 'ETH-USD') } } },
    /^prices\.ETH\.sources\.1\.symbol: is ETH-USD, in USD, and sources\.0 is ETHUSDT, in USDT/,
  ],
  [
    'a dollar of a hundred',
    { prices: { ...PRICES, USD: { fixed: '100' } } },
    /^prices\.USD\.fixed: is 100, but USDC on one is worth one dollar/,
  ],
])('refused: %s', (_, change, sentence) => {
  expect(problems(change)).toEqual([expect.stringMatching(sentence)]);
});

test('one symbol is worth the same on every chain', () => {
  const there = { ...network, id: 2, slug: 'two', tokens: [token('USDC', 'EUR')] };
  expect(problems({}, [network, there])).toEqual([
    expect.stringMatching(/^assets\.USDC: is worth USD on one and EUR on two/),
  ]);
});

test('an asset that nothing is known of is named', () => {
  const gold = { assets: { ...ASSETS, GOLD: { price: 'BTC' } } };
  expect(unknownWorths(config(gold), [network])).toEqual([expect.stringContaining('what GOLD is worth')]);
  expect(unknownWorths(config({}), [network])).toEqual([]);
});

test.each<[string, string | undefined, string | undefined]>([
  ['ETHUSDC', 'ETH', 'USDC'],
  ['ETH-USD', 'ETH', 'USD'],
  ['eth_usdt', 'ETH', 'USDT'],
  ['WETH/USDC', 'WETH', 'USDC'],
  ['EURUSD', 'EUR', 'USD'],
  ['USDCUSD', 'USDC', 'USD'],
  ['USDTUSD', 'USDT', 'USD'],
  ['XBTUSD', 'XBT', 'USD'],
  ['BTC/SOMETHING', 'BTC', undefined],
  ['ETH', 'ETH', undefined],
  ['GOLDUSD', undefined, undefined],
  ['X', undefined, undefined],
])('the market symbol %s is %s in %s', (symbol, base, quote) => {
  expect(readMarketSymbol(symbol)).toEqual(base === undefined ? undefined : { base, quote });
});

test('law: two different worths never pass for one another, however the feed spells them', () => {
  const names = ['BTC', 'ETH', 'SOL', 'EUR'];
  const spelled = [(a: string) => `${a}USD`, (a: string) => `${a}-USD`, (a: string) => `${a}/USD`];
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      fc.constantFrom(...names),
      fc.constantFrom(...spelled),
      (a, b, spell) => {
        const there = { ...network, tokens: [token('USDC', 'USD'), token('WETH', a)] };
        const prices = { USD: { fixed: '1' }, ETH: { fixed: '9' }, desk: { sources: from(spell(b)) } };
        const found = problems({ prices, assets: { ...ASSETS, WETH: { price: 'desk' } } }, [there]);
        expect(found.length).toBe(a === b ? 0 : 1);
      },
    ),
  );
});
