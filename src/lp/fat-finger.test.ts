/** The second opinion by legs: whatever pricing signs passes it, and nothing above mid does. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDecimal, type Rational } from '../pricing/rational.ts';
import { type Deal, fatFinger } from './fat-finger.ts';

const usd = (text: string) => parseDecimal(text) as Rational;
const deal = (overrides: Partial<Deal> = {}): Deal => ({ input: 10n ** 18n, output: 2_499_000_000n, inputDecimals: 18, outputDecimals: 6, inputUsd: usd('2500'), outputUsd: usd('1'), minSpreadBps: 0.5, maxUsd: 250_000, ...overrides });

test('a fair deal passes; at mid, above it, empty or huge it does not', () => {
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

test('law: what passes is worth no more than what comes in', () => {
  fc.assert(
    fc.property(fc.bigInt(1n, 10n ** 20n), fc.bigInt(1n, 10n ** 12n), fc.integer({ min: 1, max: 10 ** 9 }), (input, output, cents) => {
      const inputUsd = { num: BigInt(cents), den: 100n };
      if (fatFinger(deal({ input, output, inputUsd, minSpreadBps: 0, maxUsd: 1e12 })) !== undefined) return;
      expect(output * 10n ** 12n * 100n).toBeLessThanOrEqual(input * BigInt(cents));
    }),
  );
});
