/** Laws of the price: monotone, exact outputs covered, nothing gained by splitting, each cost charged. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { convertDown } from '../../../domain/amount.ts';
import {
  chargedUp,
  handedForUp,
  keptDown,
  payoutDown,
  ppbOfBpsUp,
  refillShareUp,
  shareUp,
  type TransferTerms,
} from './price.ts';

const zAmount = fc.bigInt(0n, 10n ** 24n);
const zTerms: fc.Arbitrary<TransferTerms> = fc.record({
  flat: fc.bigInt(0n, 10n ** 9n),
  share: fc.bigInt(0n, 999_999_999n),
  inputDecimals: fc.integer({ min: 0, max: 18 }),
  outputDecimals: fc.integer({ min: 0, max: 18 }),
});

describe('laws', () => {
  test('more handed over never pays less', () =>
    fc.assert(
      fc.property(zAmount, zAmount, zTerms, (a, more, terms) => {
        expect(payoutDown(a + more, terms)).toBeGreaterThanOrEqual(payoutDown(a, terms));
      }),
    ));

  test('the input of an exact output pays at least that, and one unit less does not', () =>
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 24n), zTerms, (output, terms) => {
        const handed = handedForUp(output, terms) as bigint;
        expect(payoutDown(handed, terms)).toBeGreaterThanOrEqual(output);
        expect(payoutDown(handed - 1n, terms)).toBeLessThan(output);
      }),
    ));

  test('parts never pay more than the whole', () =>
    fc.assert(
      fc.property(zAmount, zAmount, zTerms, (a, b, terms) => {
        expect(payoutDown(a, terms) + payoutDown(b, terms)).toBeLessThanOrEqual(payoutDown(a + b, terms));
      }),
    ));

  test('what the venue keeps is at least its costs', () =>
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 24n), zTerms, (handed, terms) => {
        const paid = payoutDown(handed, terms);
        if (paid === 0n) return;
        expect(keptDown(handed, paid, terms)).toBeGreaterThanOrEqual(
          (handed * terms.share) / 1_000_000_000n + terms.flat,
        );
      }),
    ));

  test('the fee that the taker sees and what it gets make up what was handed over', () =>
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 24n), zTerms, (handed, terms) => {
        const paid = payoutDown(handed, terms);
        const fee = chargedUp(handed, paid, terms);
        expect(fee + convertDown(paid, terms.outputDecimals, terms.inputDecimals)).toBe(handed);
        expect(fee).toBeGreaterThanOrEqual(keptDown(handed, paid, terms));
      }),
    ));

  test('a higher cost never pays more', () =>
    fc.assert(
      fc.property(zAmount, zTerms, fc.bigInt(0n, 10n ** 6n), (handed, terms, more) => {
        const paid = payoutDown(handed, terms);
        expect(payoutDown(handed, { ...terms, flat: terms.flat + more })).toBeLessThanOrEqual(paid);
        expect(payoutDown(handed, { ...terms, share: terms.share + more })).toBeLessThanOrEqual(paid);
      }),
    ));
});

describe('shares', () => {
  test('each term adds what it says, rounded up', () => {
    expect(ppbOfBpsUp(1)).toBe(100_000n);
    expect(ppbOfBpsUp(0.000_001)).toBe(1n);
    const none = { refill: 0n, capitalBpsPerDay: 0, secondsOut: 0, marginBps: 0 };
    expect(shareUp(none)).toBe(0n);
    expect(shareUp({ ...none, refill: 7n })).toBe(7n);
    expect(shareUp({ ...none, marginBps: 2 })).toBe(200_000n);
    expect(shareUp({ ...none, capitalBpsPerDay: 2, secondsOut: 43_200 })).toBe(100_000n);
    expect(shareUp({ ...none, capitalBpsPerDay: 2, secondsOut: 43_201 })).toBe(100_003n);
  });

  test('a refill costs what does not arrive and what sending costs', () => {
    expect(refillShareUp(1_000_000n, 999_900n, 0n)).toBe(100_000n);
    expect(refillShareUp(1_000_000n, 999_900n, 1n)).toBe(101_000n);
    expect(refillShareUp(3n, 3n, 1n)).toBe(333_333_334n);
    // A bridge that pays a bonus is no reason to pay out more than comes in.
    expect(refillShareUp(100n, 110n, 0n)).toBe(0n);
  });
});

test('1,000 USDC at 3 bps and 5 cents of gas, into a token of 18 decimals and back', () => {
  const terms = { flat: 50_000n, share: 300_000n, inputDecimals: 6, outputDecimals: 18 };
  expect(payoutDown(1_000_000_000n, terms)).toBe(999_650_000n * 10n ** 12n);
  expect(handedForUp(999_650_000n * 10n ** 12n, terms)).toBe(1_000_000_000n);
  expect(payoutDown(50_000n, terms)).toBe(0n);
  expect(handedForUp(1n, { ...terms, share: 1_000_000_000n })).toBeUndefined();
});
