/**
 * Whatever is known of a quote comes back as it was put in, its price worked out again to the unit; and only
 * the last so many are there.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_PARAMS } from '../../pricing/params.ts';
import { price } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { Evidence } from '../quoting/pricing-context.ts';
import { createKeptQuotes } from './recent-quotes.ts';
import type { QuoteRecord } from './quote-events.ts';
import type { Route } from '../quoting/route.ts';

const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const double = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const amount = fc.bigInt({ min: 10n ** 17n, max: 10n ** 19n });

const arbitraryInputs = fc
  .record({
    side: fc.constantFrom('exactInput' as const, 'exactOutput' as const),
    amount,
    platformFeeBps: fc.integer({ min: 0, max: 50 }),
    relayFee: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    lp: fc.constantFrom('buy' as const, 'sell' as const),
    baseDecimals: fc.constant(18),
    quoteDecimals: fc.constant(18),
    mid: fc.bigInt({ min: 1n, max: 10n ** 6n }).map((num) => ({ num, den: 100n })),
    quoteValue: double(0.5, 2),
    confidenceBps: double(0, 10),
    sigma: double(0, 2),
    firmSeconds: double(1, 600),
    q: double(-1, 1),
    ownGas: fc.bigInt({ min: 0n, max: 10n ** 9n }),
    lockSeconds: fc.integer({ min: 0, max: 900 }),
    adverseBps: some(double(0, 10)),
    rebalanceBps: some(double(-1, 5)),
    noRebates: some(fc.boolean()),
    walkedImpactBps: some(double(0, 3)),
    splitHoldSeconds: some(double(0, 30)),
    exploreBps: some(double(-1, 1)),
    hedgeBook: some(fc.constant([{ price: 1, size: 1_000_000 }] as never)),
    freeOutput: some(fc.constant(10n ** 40n)),
    market: some(fc.constant({ pair: 'A-B', corridor: 'x-y' })),
    room: some(fc.record({ input: some(fc.constant(10n ** 40n)), output: some(fc.constant(10n ** 40n)) })),
    plugin: some(fc.constant({ name: 'mine', terms: { news: () => Math.random() } })),
    evidence: some(
      fc.record({
        atMs: fc.integer({ min: 0, max: 2 ** 43 }),
        mid: fc.constant({} as never),
        references: fc.constant([]),
        caution: fc.constant({} as never),
        origin: fc.constant({} as never),
        dest: fc.constant({} as never),
      }),
    ),
  })
  .map((inputs) => {
    const there = (value: object): object =>
      Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
    return there({
      ...inputs,
      ...(inputs.room && { room: there(inputs.room) }),
      params: { ...DEFAULT_PARAMS, minSize: 0, maxSize: 1e12, maxSpreadBps: 9_000 },
    }) as PriceInputs & { evidence?: Evidence };
  });

const route = { pairName: 'A-B' } as Route;
const ids = (n: number) => ({ orderId: `0xorder${n}`, quoteId: `0xquote${n}`, rfqId: `rfq${n}` }) as const;

function recordOf(n: number, inputs: QuoteRecord['inputs'], slice = false): QuoteRecord | undefined {
  const priced = price(inputs);
  if ('declined' in priced) return undefined;
  return {
    ...ids(n),
    atMs: 1_800_000_000_000 + n,
    taker: '0xt',
    route,
    times: { validUntil: 10 + n, fillDeadline: 20 + n, expires: 30 + n },
    inputs,
    priced,
    slice,
    nearest: n % 2 === 0 ? undefined : { scope: 'total', what: 'count', used: 1n, cap: 2n },
    liveQuotes: n % 3 === 0 ? undefined : n,
    hold: { amount: 100n + BigInt(n), group: `g${n}`, lapsesAt: 20 + n },
  };
}

test('what was put in comes out', () => {
  let seen = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(arbitraryInputs, fc.boolean()), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 8 }),
      (all, keep) => {
        const quotes = createKeptQuotes(keep);
        const records = all
          .map(([inputs, slice], n) => recordOf(n, inputs, slice))
          .filter((record) => record !== undefined);
        for (const record of records) quotes.add(record);
        for (const [n, record] of records.entries()) {
          const found = n < records.length - keep ? [] : [record];
          for (const id of [record.orderId, record.quoteId, record.rfqId])
            expect(quotes.find(id)).toEqual(found);
          seen += found.length;
        }
      },
    ),
    { numRuns: 300 },
  );
  expect(seen).toBeGreaterThan(300);
});

test('several quotes of one request are all found, the newest first', () => {
  const quotes = createKeptQuotes(3);
  const inputs = fc.sample(arbitraryInputs, { numRuns: 200, seed: 1 });
  const records = inputs
    .map((each, n) => recordOf(n, each))
    .filter((record) => record !== undefined)
    .slice(0, 5);
  expect(records).toHaveLength(5);
  for (const record of records) quotes.add({ ...record, rfqId: 'same' });
  expect(quotes.find('same').map(({ orderId }) => orderId)).toEqual(
    records
      .slice(2)
      .map(({ orderId }) => orderId)
      .reverse(),
  );
  expect(quotes.find('nobody')).toEqual([]);
});

test('ids that end alike are told apart', () => {
  const quotes = createKeptQuotes(4);
  const inputs = fc
    .sample(arbitraryInputs, { numRuns: 200, seed: 1 })
    .find((each) => recordOf(0, each) !== undefined);
  const record = recordOf(1, inputs ?? expect.fail()) ?? expect.fail();
  for (const name of ['a', 'b'])
    quotes.add({
      ...record,
      orderId: `0x${name}0123456789`,
      quoteId: `0x${name}q0123456789`,
      rfqId: `${name}r0123456789`,
    });
  for (const id of ['0xb0123456789', '0xbq0123456789', 'br0123456789'])
    expect(quotes.find(id).map(({ rfqId }) => rfqId)).toEqual(['br0123456789']);
  expect(quotes.find('0xc0123456789')).toEqual([]);
});
