/** Recent requests priced again: unchanged parameters change nothing, changed ones count whom they change. */

import { expect, test } from 'vitest';
import { isDecline } from '../../domain/decline.ts';
import { DEFAULT_PARAMS, type PricingParams } from '../../pricing/params.ts';
import { price } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { QuoteRoute } from '../routes/route.ts';
import { previewQuotes } from './preview.ts';
import type { QuoteRecord } from '../quote-log/quote-events.ts';
import type { RecentAnswers } from '../quote-log/recent-quotes.ts';

const inputs: PriceInputs = {
  ...{ side: 'exactInput', amount: 10n ** 19n, platformFeeBps: 2, relayFee: 0n, lp: 'buy' },
  ...{ baseDecimals: 18, quoteDecimals: 6, mid: { num: 2_500n, den: 1n }, quoteValue: 1 },
  ...{ confidenceBps: 1.2, sigma: 0.9, firmSeconds: 61, q: -0.25, ownGas: 300_000n, lockSeconds: 900 },
  params: DEFAULT_PARAMS,
};
const route = { pairName: 'WETH-USDC', params: DEFAULT_PARAMS } as QuoteRoute;
const fatFinger = { leastBps: -100, mostBps: 300, aboveMid: 1, maxUsd: 1e6 };

function quote(orderId: string, change: Partial<PriceInputs> = {}): QuoteRecord {
  const priced = price({ ...inputs, ...change });
  if (isDecline(priced)) throw new Error(priced.declined);
  return { orderId, route, inputs: { ...inputs, ...change }, priced } as unknown as QuoteRecord;
}
const decline = (change: Partial<PriceInputs>) =>
  ({ route, inputs: { ...inputs, ...change } }) as unknown as RecentAnswers['declines'][number];

const recent: RecentAnswers = {
  quotes: [quote('0x1'), quote('0x2'), quote('0x3', { side: 'exactOutput', amount: 25_000_000_000n })],
  accepted: new Set(['0x2', '0x3']),
  // 250 WETH are more than `maxSize`; the request of 1 WETH was declined by a limit, not by its price.
  declines: [decline({ amount: 250n * 10n ** 18n }), decline({ amount: 10n ** 18n })],
};
async function under(change: Partial<PricingParams>, limits = fatFinger) {
  const params = { ...DEFAULT_PARAMS, ...change };
  const next = { routes: { find: () => ({ ...route, params }) }, fatFinger: limits, plugin: undefined };
  const [pair] = await previewQuotes(recent, next);
  if (pair === undefined) throw new Error('no pair');
  return pair;
}

test('the same parameters give the same prices', async () => {
  const pair = await under({});
  expect(pair).toEqual({
    pair: 'WETH-USDC',
    quotes: 3,
    spreadBps: pair.newSpreadBps,
    newSpreadBps: pair.spreadBps,
    declined: {},
    refused: { requests: 1, quoted: 0 },
    accepted: { quotes: 2, better: 0, worse: 0, declined: 0 },
  });
});

test('a wider spread is worse for every taker who accepted, a narrower one better', async () => {
  const wide = await under({ minSpreadBps: 40 });
  expect(wide.accepted).toEqual({ quotes: 2, better: 0, worse: 2, declined: 0 });
  expect(wide.newSpreadBps).toBeCloseTo(40, 0);
  expect((await under({ minEdgeBps: 0, omega: 0, beta: 0.5 })).accepted).toMatchObject({ better: 2 });
});

test('a larger maximum quotes what was too large; a smaller one declines what was quoted, with the reason', async () => {
  expect((await under({ maxSize: 1_000_000 })).refused).toEqual({ requests: 1, quoted: 1 });
  expect(await under({ maxSize: 20_000 })).toMatchObject({
    declined: { size_above_max: 3 },
    accepted: { quotes: 2, better: 0, worse: 0, declined: 2 },
    newSpreadBps: null,
  });
});

test('the limits of every quote decline here too', async () => {
  expect(await under({ minSpreadBps: 40 }, { ...fatFinger, mostBps: 20 })).toMatchObject({
    declined: { fat_finger: 3 },
    refused: { requests: 1, quoted: 0 },
  });
});
