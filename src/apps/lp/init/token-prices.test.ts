/** A name is no price: which tokens `lp init` prices by itself, and at which addresses. */

import { expect, test } from 'vitest';
import { zLpConfig } from '../../../lp/config/config.ts';
import { readPreset } from '../../config/presets.ts';
import { EXCHANGES } from './exchanges.ts';
import { defaultPrice, priceOfToken, readMarkets } from './token-prices.ts';

const ANYWHERE = '0x1111111111111111111111111111111111111111';
const look = (symbol: string, chain?: string, address: string = ANYWHERE, name = symbol) =>
  priceOfToken(
    { address: address.toLowerCase() as `0x${string}`, symbol, name },
    chain ?? 'devnet',
    chain === undefined ? undefined : readPreset(chain),
  );

test.each([
  ...['USDY', 'USD0++', 'USDe', 'USDai', 'xUSD'],
  // Nobody listed these.
  ...['USDC.e', 'USDbC', 'USDT0', 'USD₮0', 'crvUSD', 'sDAI', 'usdc', 'USDС', 'USDC ', '$C', 'fUSDC'],
])('%s is no dollar by its name, on any chain', (symbol) => {
  for (const chain of [undefined, 'ethereum', 'base', 'arc'])
    expect(look(symbol, chain)).toMatchObject({ kind: 'unknown', why: expect.stringContaining('dollar') });
});

test('neither is a token whose name promises one', () =>
  expect(look('OUSG', 'ethereum', ANYWHERE, 'Ondo Short-Term US Dollar Treasuries').kind).toBe('unknown'));

test.each([
  ['USDC', 'ethereum', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'],
  ['USDC', 'optimism', '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'],
  ['USDC', 'base', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
  ['USDC', 'arc', '0x3600000000000000000000000000000000000000'],
  ['USDT', 'ethereum', '0xdAC17F958D2ee523a2206206994597C13D831ec7'],
  ['DAI', 'base', '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb'],
])('%s of %s is a guarded dollar at its address, and nowhere else', (symbol, chain, address) => {
  expect(look(symbol, chain, address)).toEqual({ kind: 'known', name: symbol, notice: undefined });
  expect(look(symbol, chain)).toEqual({
    kind: 'impostor',
    why: `the ${symbol} of ${chain} is at ${address}`,
  });
  const { guards } = defaultPrice(symbol) as { guards: { feed: string }[] };
  expect(new Set(guards.map(({ feed }) => feed)).size).toBeGreaterThanOrEqual(2);
});

test('bridged USDC, whose symbol on Optimism is USDC too, is not taken for it', () =>
  expect(look('USDC', 'optimism', '0x7F5c764cBc14f9669B88837ca1490cCa17c31607').kind).toBe('impostor'));

test('a dollar that a chain is not known to have needs a source', () =>
  expect(look('PYUSD', 'base')).toEqual({
    kind: 'unknown',
    why: 'the address of PYUSD on base is not known to firmquote',
  }));

test('on a chain without a preset the symbol decides, and the operator is told', () =>
  expect(look('USDC')).toMatchObject({
    kind: 'known',
    name: 'USDC',
    notice: expect.stringMatching(/Check/),
  }));

test('wrapped assets: WETH is ether, WBTC is checked by its own market, cbBTC needs a source', () => {
  expect(look('WETH', 'base', '0x4200000000000000000000000000000000000006')).toMatchObject({ name: 'ETH' });
  expect(look('WETH', 'base').kind).toBe('impostor');
  expect(look('WBTC', 'ethereum', '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599')).toMatchObject({
    name: 'WBTC',
  });
  expect(defaultPrice('WBTC')).toMatchObject({
    sources: [{ symbol: 'BTCUSDC' }, { symbol: 'BTC-USD' }, { symbol: 'BTC/USD' }],
    references: [{ symbol: 'WBTCUSD' }],
  });
  expect(look('cbBTC', 'base', '0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf').kind).toBe('unknown');
});

test.each(['LINK', 'UNI', 'AAVE', 'ETH', 'BTC'])(
  '%s has a price at any address, and no notice only where the preset lists the address',
  (symbol) => {
    for (const chain of [undefined, 'base', 'arc'])
      expect(look(symbol, chain)).toEqual({
        kind: 'known',
        name: symbol,
        notice: `${symbol} at ${ANYWHERE} on ${chain ?? 'devnet'} is taken for ${symbol} by its symbol alone. Check the address.`,
      });
    const token = { address: ANYWHERE, symbol, name: symbol } as const;
    const preset = { tokens: [{ address: ANYWHERE, symbol, decimals: 18 }] };
    expect(priceOfToken(token, 'listed', preset)).toMatchObject({ name: symbol, notice: undefined });
  },
);

test('another token is priced by the markets of its symbol, and the operator is told which', () => {
  expect(look('PEPE', 'base')).toMatchObject({
    name: 'PEPE',
    notice: expect.stringContaining('PEPE/USD of kraken'),
  });
  // A name of JavaScript's own is none of the lists'.
  expect(look('constructor', 'base')).toMatchObject({ kind: 'known', name: 'constructor' });
});

test('markets that an operator names become sources of a price that the LP takes', () => {
  const price = readMarkets(' kraken:USDE/USD, coinbase-rest:USDE-USD ', EXCHANGES);
  expect(price).toEqual({
    sources: [
      { feed: 'kraken', symbol: 'USDE/USD' },
      { feed: 'coinbase-rest', symbol: 'USDE-USD', maxAgeMs: 10_000 },
    ],
  });
  expect(zLpConfig.shape.prices.safeParse({ USDe: price }).success).toBe(true);
  expect(readMarkets('1', EXCHANGES)).toMatch(/"1" names no markets: write feed:symbol.*binance, coinbase/);
  expect(readMarkets('kraken:', EXCHANGES)).toMatch(/names no markets/);
  expect(readMarkets('nasdaq:USDE', EXCHANGES)).toMatch(/There is no feed "nasdaq": use binance/);
});
