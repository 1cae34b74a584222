/** The fat-finger check: every price passes it, and no output above mid does. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDecimal, type Rational } from '../../pricing/rational.ts';
import { type DealLimits, type Deal, fatFinger as judge } from './fat-finger.ts';

const usd = (text: string) => parseDecimal(text) as Rational;
const deal = (overrides: Partial<Deal> = {}): Deal => ({
  input: 10n ** 18n,
  output: 2_499_000_000n,
  inputDecimals: 18,
  outputDecimals: 6,
  inputUsd: usd('2500'),
  outputUsd: usd('1'),
  spreadBps: 4,
  minSpreadBps: 0.5,
  maxUsd: 250_000,
  ...overrides,
});
const bounds: DealLimits = { leastBps: 0.5, mostBps: 300, aboveMid: 1.001, maxUsd: 500_000 };
const fatFinger = (made: Deal, change: Partial<DealLimits> = {}) => judge(made, { ...bounds, ...change });

test('passes a fair quote and rejects one at mid, above mid, empty or huge', () => {
  expect(fatFinger(deal())).toBeUndefined();
  expect(fatFinger(deal({ output: 2_500_000_000n }))).toBe('above_mid');
  expect(fatFinger(deal({ output: 2_499_875_000n }))).toBeUndefined();
  expect(fatFinger(deal({ output: 2_499_875_001n }))).toBe('above_mid');
  expect(fatFinger(deal({ output: 0n }))).toBe('nothing');
  expect(fatFinger(deal({ input: 200n * 10n ** 18n, output: 1n }))).toBe('too_large');
  expect(fatFinger(deal({ outputUsd: usd('1.01') }))).toBe('above_mid');
  expect(fatFinger(deal({ inputDecimals: 17 }))).toBeUndefined();
  expect(fatFinger(deal({ inputDecimals: 19 }))).toBe('above_mid');
});

test.each([
  [0.49, 'spread'],
  [0.5, undefined],
  [300, undefined],
  [300.01, 'spread'],
  [Number.NaN, 'spread'],
] as const)('a spread of %d bps: %s', (spreadBps, why) => {
  expect(fatFinger(deal({ spreadBps }))).toBe(why);
});

test('the quote limits hold despite a mistyped size or rebate of a pair', () => {
  const huge = { input: 210n * 10n ** 18n, output: 520_000_000_000n };
  expect(fatFinger(deal({ ...huge, maxUsd: 2_500_000 }))).toBe('too_large');
  expect(fatFinger(deal({ ...huge, maxUsd: 2_500_000 }), { maxUsd: 600_000 })).toBeUndefined();
  expect(fatFinger(deal({ output: 2_502_500_000n, minSpreadBps: -50 }))).toBeUndefined();
  expect(fatFinger(deal({ output: 2_502_500_001n, minSpreadBps: -50 }))).toBe('above_mid');
});

test('law: a passing quote pays out at most the value of its input', () => {
  fc.assert(
    fc.property(
      fc.bigInt(1n, 10n ** 20n),
      fc.bigInt(1n, 10n ** 12n),
      fc.integer({ min: 1, max: 10 ** 9 }),
      (input, output, cents) => {
        const inputUsd = { num: BigInt(cents), den: 100n };
        if (
          fatFinger(deal({ input, output, inputUsd, minSpreadBps: 0, maxUsd: 1e12 }), { maxUsd: 1e12 }) !==
          undefined
        )
          return;
        expect(output * 10n ** 12n * 100n).toBeLessThanOrEqual(input * BigInt(cents));
      },
    ),
  );
});
