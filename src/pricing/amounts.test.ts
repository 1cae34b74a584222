import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mulDivUp } from '../domain/amount.ts';
import {
  baseUnitRate,
  type Charges,
  exactIn,
  exactOut,
  grossOf,
  largestInput,
  receivedOf,
  WHOLE,
} from './amounts.ts';

const WETH_USDC: Charges = {
  rate: baseUnitRate({ num: 2500n, den: 1n }, 'buy', 18, 6),
  spread: 82978n,
  feeBps: 2n,
  gas: 360_000n,
};
const USDC_WETH: Charges = {
  rate: baseUnitRate({ num: 2500n, den: 1n }, 'sell', 18, 6),
  spread: 82978n,
  feeBps: 0n,
  gas: 0n,
};

const charges: fc.Arbitrary<Charges> = fc
  .record({
    rate: fc.record({ num: fc.bigInt(1n, 10n ** 24n), den: fc.bigInt(1n, 10n ** 24n) }),
    spread: fc.oneof(fc.bigInt(0n, 3_000_000n), fc.bigInt(0n, 50_000_000n)),
    feeBps: fc.oneof(fc.bigInt(0n, 10n), fc.bigInt(0n, 5_000n)),
    gas: fc.oneof(fc.constant(0n), fc.bigInt(0n, 10n ** 9n)),
  })
  .filter(({ spread, feeBps }) => spread + feeBps * 10_000n < WHOLE);
const amount = fc.oneof(fc.bigInt(0n, 20_000n), fc.bigInt(0n, 10n ** 24n));

describe('small sizes, before any gate', () => {
  test.each([
    [1n, -360_000n],
    [10n ** 12n, -357_504n],
    [10n ** 15n, 2_137_425n],
    [123_456_789_012_345_678n, 307_964_138n],
    [10n ** 19n, 24_973_895_500n],
    [10n ** 19n - 1n, 24_973_895_499n],
  ])('WETH to USDC: %s buys %s', (input, output) => expect(exactIn(input, WETH_USDC)).toBe(output));

  test.each([
    [1n, 399_668_088n],
    [25_000_000_000n, 9_991_702_200_000_000_000n],
  ])('USDC to WETH: %s buys %s', (input, output) => expect(exactIn(input, USDC_WETH)).toBe(output));
});

describe('laws', () => {
  test('exactIn is monotonic in the input', () => {
    fc.assert(
      fc.property(
        charges,
        amount,
        fc.bigInt(0n, 20_000n),
        (c, x, more) => exactIn(x + more, c) >= exactIn(x, c),
      ),
    );
  });

  test('the bare formula is not monotonic: one more unit of gross pays one unit less at 50,000,000', () => {
    const formula = (gross: bigint) => (gross * (WHOLE - 82978n)) / WHOLE - mulDivUp(gross, 2n, 10_000n);
    expect(formula(50_000_001n) - formula(50_000_000n)).toBe(-1n);
    const unit: Charges = { ...WETH_USDC, rate: { num: 1n, den: 1n }, gas: 0n };
    expect(exactIn(50_000_001n, unit)).toBe(exactIn(50_000_000n, unit));
  });

  test('exactIn is the largest output of the formula for this or any smaller gross', () => {
    const unit = { num: 1n, den: 1n };
    fc.assert(
      fc.property(fc.bigInt(0n, 50_000_000n), fc.bigInt(0n, 4_999n), (spread, feeBps) => {
        let most = 0n;
        for (let gross = 0n; gross < 300n; gross++) {
          const formula = (gross * (WHOLE - spread)) / WHOLE - mulDivUp(gross, feeBps, 10_000n);
          most = gross === 0n || formula > most ? formula : most;
          expect(exactIn(gross, { rate: unit, spread, feeBps, gas: 0n })).toBe(most);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('exactOut is the smallest input that buys the output', () => {
    fc.assert(
      fc.property(charges, fc.oneof(fc.bigInt(1n, 20_000n), fc.bigInt(1n, 10n ** 24n)), (c, y) => {
        const x = exactOut(y, c);
        expect(exactIn(x, c)).toBeGreaterThanOrEqual(y);
        expect(exactIn(x - 1n, c)).toBeLessThan(y);
      }),
      { numRuns: 2_000 },
    );
  });

  test('largestInput uses an inventory to the last unit', () => {
    fc.assert(
      fc.property(charges, fc.bigInt(0n, 10n ** 20n), (c, free) => {
        const x = largestInput(free, c);
        expect(exactIn(x, c)).toBeLessThanOrEqual(free);
        expect(exactIn(x + 1n, c)).toBeGreaterThan(free);
      }),
    );
  });

  test('outputs never exceed the mid', () => {
    fc.assert(fc.property(charges, amount, (c, x) => exactIn(x, c) * c.rate.den <= x * c.rate.num));
  });

  test('a round trip never gains', () => {
    fc.assert(
      fc.property(charges, amount, fc.bigInt(0n, 1_000_000n), (there, x, spread) => {
        const y = exactIn(x, there);
        const back: Charges = { ...there, rate: { num: there.rate.den, den: there.rate.num }, spread };
        return y <= 0n || exactIn(y, back) <= x;
      }),
    );
  });

  test('slices together buy at most one unit a slice more than the whole', () => {
    fc.assert(
      fc.property(charges, fc.array(amount, { minLength: 1, maxLength: 5 }), (c, slices) => {
        const whole = exactIn(
          slices.reduce((sum, each) => sum + each, 0n),
          c,
        );
        const parts = slices.reduce((sum, each) => sum + exactIn(each, c), 0n);
        return parts <= whole + BigInt(slices.length);
      }),
    );
  });

  test('what the LP receives is worth at least what it pays and its gas, at mid', () => {
    fc.assert(
      fc.property(
        charges,
        amount,
        fc.bigInt(0n, 10n ** 9n),
        fc.bigInt(0n, 10n ** 9n),
        (c, x, relayFee, ownGas) => {
          const gas = ownGas + (relayFee * c.rate.num + c.rate.den - 1n) / c.rate.den;
          const output = exactIn(x, { ...c, gas });
          const received = receivedOf(x, c.feeBps, relayFee);
          return output <= 0n || received * c.rate.num >= (output + ownGas) * c.rate.den;
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('gross is the value at mid', () => expect(grossOf(10n ** 19n, WETH_USDC.rate)).toBe(25_000_000_000n));
});
