/** Mistakes in the configuration of price feeds are found before start. */

import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { zLpAppConfig } from '../lp/config.ts';
import { zFeed } from './feeds.ts';
import { parseConfig } from './load.ts';

const example = JSON.parse(
  await readFile(new URL('../../../config/lp.example.json', import.meta.url).pathname, 'utf8'),
) as Example;
interface Example {
  feeds: Record<string, unknown>;
  lp: { prices: Record<string, object> };
}

const withPrice = (price: object) => ({
  ...example,
  lp: { ...example.lp, prices: { ...example.lp.prices, ETH: price } },
});

test.each([
  [
    'a time-weighted mean as a source',
    withPrice({ sources: [{ feed: 'uniswap', symbol: 'WETH/USDC' }] }),
    '"WETH/USDC" of the feed "uniswap" is a time-weighted mean, which may only check a price',
  ],
  [
    'a time-weighted mean as the guard of a peg, which prices when the peg breaks',
    withPrice({ fixed: '1', guards: [{ feed: 'uniswap', symbol: 'WETH/USDC' }] }),
    'may only check a price',
  ],
  [
    'a feed that is not there',
    withPrice({ sources: [{ feed: 'bitfinex', symbol: 'tETHUSD' }] }),
    'the feed "bitfinex", which is not configured',
  ],
  [
    'an aggregator that is not listed',
    withPrice({
      sources: [{ feed: 'binance', symbol: 'ETHUSDT' }],
      references: [{ feed: 'chainlink', symbol: 'BTC/USD' }],
    }),
    '"BTC/USD" of the feed "chainlink", which does not list it',
  ],
  [
    'a chain that is not ours',
    {
      ...example,
      feeds: { ...example.feeds, chainlink: { kind: 'chainlink', chainId: 1, aggregators: {} } },
    },
    'feeds.chainlink.chainId: chain 1 is not configured',
  ],
  [
    'a path that is none',
    {
      ...example,
      feeds: { ...example.feeds, bad: { kind: 'http', url: 'https://x', bid: 'a..b', ask: 'a' } },
    },
    'feeds.bad.bid: must be names joined by dots',
  ],
])('%s', (_, config, message) => {
  expect(() => parseConfig(zLpAppConfig, config, {})).toThrow(message);
});

test('a time-weighted mean may check a price but not make one', () => {
  const config = withPrice({
    sources: [{ feed: 'binance', symbol: 'ETHUSDT' }],
    references: [{ feed: 'uniswap', symbol: 'WETH/USDC' }],
  });
  expect(parseConfig(zLpAppConfig, config, {}).config.lp.prices['ETH']).toMatchObject({
    references: [{ feed: 'uniswap', deviationBps: 50 }],
  });
});

test('the configuration in docs/lp/feeds.md is valid', async () => {
  const text = await readFile(new URL('../../../docs/lp/feeds.md', import.meta.url).pathname, 'utf8');
  const shown = [...text.matchAll(/```json\n([^`]+)```/g)].map(
    (match) => JSON.parse(match[1] as string) as object,
  );
  expect(shown.length).toBeGreaterThanOrEqual(3);
  for (const section of shown) expect(zFeed.parse(section)).toMatchObject(section);
  const kinds = [...text.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
  expect(kinds).toEqual(zFeed.options.map(({ shape }) => shape.kind.value));
});
