import { describe, expect, test } from 'vitest';
import { isDecline } from '../domain/decline.ts';
import { aggregate, cross, deviationBps, type Mid, type MidOptions, observe } from './mid.ts';
import { compare, parseDecimal } from './rational.ts';

const seen = (source: string, bid: string, ask = bid, atMs = 10_000, exchangeTimeMs: number | null = null) =>
  observe({ source, bid, ask, receivedMs: atMs, exchangeTimeMs }) ?? expect.fail(`no price: ${bid}`);
const options: MidOptions = { maxAgeMs: 2_000, devGuardBps: 50, minSources: 2 };
const mid = (...args: Parameters<typeof aggregate>): Mid => {
  const answer = aggregate(...args);
  return isDecline(answer) ? expect.fail(answer.detail) : answer;
};

test('worked example: drops stale sources and outliers, exact median, 1.4826 MAD', () => {
  const answer = mid(
    [
      seen('a', '2500.00'),
      seen('b', '2499.80'),
      seen('c', '2500.20'),
      seen('far', '2620'),
      seen('old', '2400', '2400', 1_000),
    ],
    10_000,
    options,
  );
  expect(compare(answer.price, { num: 2500n, den: 1n })).toBe(0);
  expect(answer.confidenceBps.toFixed(5)).toBe('1.18608');
  expect(answer.dropped).toEqual([
    { source: 'old', why: 'stale' },
    { source: 'far', why: 'deviant' },
  ]);
  expect(answer.used).toEqual(['a', 'b', 'c']);
});

test("confidence is at least the half-spread and at least each source's own", () => {
  const wide = [seen('a', '99.9', '100.1'), seen('b', '99.9', '100.1')];
  expect(mid(wide, 10_000, options).confidenceBps).toBeCloseTo(10, 9);
  const pyth =
    observe({ source: 'pyth', bid: '100', ask: '100', receivedMs: 10_000, confidenceBps: 15 }) ??
    expect.fail();
  expect(mid([...wide, pyth], 10_000, options).confidenceBps).toBe(15);
});

test('a mid has the time of its oldest source', () =>
  expect(mid([seen('a', '100', '100', 9_000), seen('b', '100')], 10_000, options).atMs).toBe(9_000));

test('a source without its own timestamps has half weight', () => {
  // 100 and 100.02 untimed against 100.3 timed: two halves balance one whole.
  expect(
    mid(
      [seen('a', '100'), seen('b', '100.02'), seen('c', '100.30', '100.30', 10_000, 9_999)],
      10_000,
      options,
    ).value,
  ).toBeCloseTo(100.16, 10);
  expect(
    mid([seen('a', '100'), seen('b', '100.02'), seen('c', '100.30')], 10_000, options).value,
  ).toBeCloseTo(100.02, 10);
});

describe('declines', () => {
  test.each([
    ['too few fresh', [seen('a', '100'), seen('b', '100', '100', 7_999)], '1 of 2 sources fresh'],
    ['from the future', [seen('a', '100'), seen('b', '100', '100', 12_001)], '1 of 2 sources fresh'],
    ['two that disagree', [seen('a', '100'), seen('b', '102')], '0 of 2 sources agree'],
    ['nobody', [], '0 of 2 sources fresh'],
  ])('%s', (_name, sources, brief) =>
    expect(aggregate(sources, 10_000, options)).toEqual({
      declined: 'stale_price',
      brief,
      detail: expect.stringContaining(brief),
    }),
  );
  test('drops one wrong source of three', () =>
    expect(mid([seen('a', '100'), seen('b', '100.01'), seen('liar', '105')], 10_000, options).used).toEqual([
      'a',
      'b',
    ]));
});

test.each(['', '0', '-1', '1e3', '1.', '.5', '01', 'NaN', '0x10', ' 1', '0.0000000000000000009', '1,5'])(
  'no price: "%s"',
  (text) => expect(observe({ source: 'a', bid: text, ask: text, receivedMs: 0 })).toBeUndefined(),
);
test.each([
  ['0.1234567890123456789', 123_456_789_012_345_678n, 123_456_789_012_345_679n],
  ['0.000012345678901234567', 12_345_678_901_234n, 12_345_678_901_235n],
  ['1.0000000000000000001', 10n ** 18n, 10n ** 18n + 1n],
  ['0.0000000000000000019', 1n, 2n],
])('digits of %s beyond 1e-18 lower the bid and raise the ask', (text, bid, ask) =>
  expect(observe({ source: 'a', bid: text, ask: text, receivedMs: 0 })).toMatchObject({ bid, ask }),
);
test('a crossed market is no price', () =>
  expect(observe({ source: 'a', bid: '2', ask: '1', receivedMs: 0 })).toBeUndefined());
test('decimals are exact', () =>
  expect(parseDecimal('2683.80000000')).toEqual({ num: 268_380_000_000n, den: 100_000_000n }));

test('cross rate: A/USD over B/USD, exact; confidences add', () => {
  const a = mid([seen('x', '2500.25'), seen('y', '2500.25', '2500.25', 9_500)], 10_000, options);
  const b = mid([seen('x', '0.9995', '0.9997'), seen('y', '0.9995', '0.9997')], 10_000, options);
  const rate = cross(a, b);
  expect(compare(rate.price, { num: 25_002_500n, den: 9_996n })).toBe(0);
  expect(rate.confidenceBps).toBeCloseTo(1.0004, 4);
  expect(rate.atMs).toBe(9_500);
  expect(deviationBps(rate.price, { num: 2n * 25_002_500n, den: 9_996n })).toBeCloseTo(10_000, 6);
});
