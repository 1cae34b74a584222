/** Answers override the demo's. */

import { expect, test } from 'vitest';
import { merge } from './answers.ts';

const demo = {
  venue: { name: 'demo', url: 'ws://demo' },
  venueKey: 'fq_demo',
  feeds: { played: { kind: 'demo' } },
  prices: { ETH: { sources: ['played'] }, USDC: { sources: ['played'] } },
};

test('feeds and prices of later answers replace the earlier ones', () => {
  const { feeds, prices } = merge(demo, {
    feeds: { binance: { kind: 'binance' } },
    prices: { ETH: { sources: ['binance'] } },
  });
  expect(feeds).toEqual({ binance: { kind: 'binance' } });
  expect(prices).toEqual({ ETH: { sources: ['binance'] } });
});

test('other sections are merged key by key, and an absent answer overrides nothing', () => {
  const merged = merge(demo, { venue: { url: 'wss://venue', keyFile: undefined } }, { solver: { id: 'me' } });
  expect(merged).toEqual({ ...demo, venue: { name: 'demo', url: 'wss://venue' }, solver: { id: 'me' } });
});
