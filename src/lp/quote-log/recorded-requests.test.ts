/** Each request is recorded once with its outcome, and only the last ones are kept. */

import { expect, test } from 'vitest';
import { DEFAULT_PARAMS } from '../../pricing/params.ts';
import { price, type Priced } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { Rfq } from '../../protocol/link/link.ts';
import type { OpenAward } from '../settlement/awards.ts';
import { createRecordedRequests } from './recorded-requests.ts';
import type { QuoteRecord } from './quote-events.ts';
import type { QuoteRoute } from '../routes/route.ts';

const inputs: PriceInputs = {
  side: 'exactInput',
  amount: 10n ** 18n,
  platformFeeBps: 2,
  relayFee: 0n,
  lp: 'buy',
  baseDecimals: 18,
  quoteDecimals: 6,
  mid: { num: 2500n, den: 1n },
  quoteValue: 1,
  confidenceBps: 1,
  sigma: 0.9,
  firmSeconds: 11,
  q: 0,
  ownGas: 0n,
  lockSeconds: 0,
  params: DEFAULT_PARAMS,
};
const priced = price(inputs) as Priced;
const route = {
  origin: { slug: 'base' },
  dest: { slug: 'arc' },
  inputToken: { symbol: 'WETH' },
  outputToken: { symbol: 'USDC' },
} as unknown as QuoteRoute;
const quote = (rfqId: string, orderId: string, changed: Partial<QuoteRecord> = {}) =>
  ({
    rfqId,
    orderId,
    atMs: 1_000_000,
    taker: '0xaa',
    route,
    inputs,
    priced,
    times: { validUntil: 1_010, fillDeadline: 1_040, expires: 2_000 },
    slice: false,
    ...changed,
  }) as unknown as QuoteRecord;
const rfq = (rfqId: string) =>
  ({
    rfqId,
    taker: '0xbb',
    side: 'exactOutput',
    amount: '7',
    platformFeeBps: 3,
    minValidUntil: 1_030,
  }) as unknown as Rfq;

test('records one entry per request: accepted, expired, open or declined', () => {
  let nowMs = 1_005_000;
  const requests = createRecordedRequests({ clock: { nowMs: () => nowMs } }, { keep: 10 });
  const { quoted, declined, accepted } = requests.listener;
  quoted?.(quote('a', 'a5'));
  quoted?.(quote('a', 'a10', { times: { validUntil: 1_020, fillDeadline: 1_050, expires: 2_000 } }));
  quoted?.(quote('b', 'b5', { atMs: 1_000_500 }));
  quoted?.(quote('split', 's', { slice: true }));
  declined?.(rfq('c'), route, { declined: 'no_inventory' }, 1_001_000);
  declined?.(rfq('unknown way'), undefined, { declined: 'pair' }, 1_001_000);
  accepted?.({ orderId: 'a10' } as unknown as OpenAward);
  accepted?.({ orderId: 'nobody knows' } as unknown as OpenAward);
  nowMs = 1_006_000;
  accepted?.({ orderId: 'a10' } as unknown as OpenAward);

  const common = {
    taker: '0xaa',
    corridor: 'base-arc',
    input: 'WETH',
    output: 'USDC',
    side: 'exactInput',
    amount: '1000000000000000000',
    platformFeeBps: 2,
    minValidSeconds: 0,
    rival: null,
  };
  expect(requests.recorded().rfqs).toEqual([
    {
      ...common,
      atMs: 1_000_000,
      id: 'a',
      outcome: 'accepted',
      quoted: priced.output.toString(),
      acceptedAtMs: 1_005_000,
    },
    {
      ...common,
      atMs: 1_000_500,
      id: 'b',
      outcome: null,
      quoted: priced.output.toString(),
      acceptedAtMs: null,
    },
    {
      ...common,
      taker: '0xbb',
      side: 'exactOutput',
      amount: '7',
      platformFeeBps: 3,
      minValidSeconds: 29,
      atMs: 1_001_000,
      id: 'c',
      outcome: 'declined',
      quoted: null,
      acceptedAtMs: null,
    },
  ]);
  nowMs = 1_040_001;
  expect(requests.recorded().rfqs.map(({ outcome }) => outcome)).toEqual(['accepted', 'expired', 'declined']);
});

test('keeps the last requests, and ignores accepts of forgotten ones', () => {
  const requests = createRecordedRequests({ clock: { nowMs: () => 0 } }, { keep: 3 });
  for (let at = 0; at < 10; at++) requests.listener.quoted?.(quote(`r${at}`, `o${at}`));
  requests.listener.accepted?.({ orderId: 'o2' } as unknown as OpenAward);
  expect(requests.recorded().rfqs.map(({ id, outcome }) => [id, outcome])).toEqual([
    ['r7', null],
    ['r8', null],
    ['r9', null],
  ]);
  const first = requests.recorded(-1, 2);
  expect(first.rfqs.map(({ id }) => id)).toEqual(['r7', 'r8']);
  expect(requests.recorded(first.next as number, 2)).toMatchObject({ rfqs: [{ id: 'r9' }], next: null });
});

test('the newest come first, page by page, while new ones arrive', () => {
  const requests = createRecordedRequests({ clock: { nowMs: () => 0 } }, { keep: 5 });
  const ids = (page: { rfqs: { id: string }[] }) => page.rfqs.map(({ id }) => id);
  expect(requests.newest()).toEqual({ rfqs: [], next: null });
  for (let n = 1; n <= 7; n += 1) requests.listener.quoted?.(quote(`r${n}`, `o${n}`));
  expect(ids(requests.newest())).toEqual(['r7', 'r6', 'r5', 'r4', 'r3']);
  const first = requests.newest(undefined, 2);
  expect(ids(first)).toEqual(['r7', 'r6']);
  requests.listener.quoted?.(quote('r8', 'o8'));
  const second = requests.newest(first.next as number, 2);
  expect(ids(second)).toEqual(['r5', 'r4']);
  // r3 has made place for r8.
  expect(second.next).toBeNull();
  expect(requests.newest(0)).toEqual({ rfqs: [], next: null });
});

test('an accept applies to exactly its order id', () => {
  const requests = createRecordedRequests({ clock: { nowMs: () => 0 } }, { keep: 3 });
  for (const name of ['a', 'b', 'c']) requests.listener.quoted?.(quote(name, `${name}-0123456789`));
  requests.listener.accepted?.({ orderId: 'd-0123456789' } as unknown as OpenAward);
  requests.listener.accepted?.({ orderId: 'b-0123456789' } as unknown as OpenAward);
  expect(requests.recorded().rfqs.map(({ id, outcome }) => [id, outcome])).toEqual([
    ['a', null],
    ['b', 'accepted'],
    ['c', null],
  ]);
});
