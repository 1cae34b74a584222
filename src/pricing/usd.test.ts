/** Values and conversions against exact integers: off by less than a unit, on the side of their names. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDecimal, type Rational } from './rational.ts';
import { exchangedUp, usdDown, usdUp, wholeTokens } from './usd.ts';

const amount = fc.bigInt(0n, 10n ** 40n);
const decimals = fc.integer({ min: 0, max: 36 });
const price = fc.record({ num: fc.bigInt(0n, 10n ** 40n), den: fc.bigInt(1n, 10n ** 40n) });
const above0 = price.filter(({ num }) => num > 0n);
const perUsd = fc.constantFrom(1n, 1_000_000n, 100_000_000n);
const usd = (text: string): Rational => parseDecimal(text) ?? { num: 0n, den: 1n };

test('values in USD', () => {
  expect(usdDown(1_999_999n, { decimals: 6, price: usd('1') })).toBe(1n);
  expect(usdUp(1_999_999n, { decimals: 6, price: usd('1') })).toBe(2n);
  expect(usdDown(15n * 10n ** 17n, { decimals: 18, price: usd('2500.5') }, 1_000_000n)).toBe(3_750_750_000n);
  expect(usdUp(1n, { decimals: 18, price: usd('0.01') }, 100_000_000n)).toBe(1n);
  expect(usdDown(-1_999_999n, { decimals: 6, price: usd('1') })).toBe(-1n);
});

test('law: usdDown <= exact value < usdDown + 1, and usdUp - 1 < exact value <= usdUp', () => {
  fc.assert(
    fc.property(amount, decimals, price, perUsd, (of, places, at, unit) => {
      // The exact value is over / under.
      const [over, under] = [of * at.num * unit, at.den * 10n ** BigInt(places)];
      const token = { decimals: places, price: at };
      const [down, up] = [usdDown(of, token, unit), usdUp(of, token, unit)];
      expect(down * under <= over && over < (down + 1n) * under).toBe(true);
      expect((up - 1n) * under < over && over <= up * under).toBe(true);
      expect(usdDown(-of, token, unit)).toBe(-down);
    }),
  );
});

test('law: exchangedUp is the least amount that is worth as much', () => {
  fc.assert(
    fc.property(amount, decimals, above0, decimals, above0, (of, fromPlaces, from, toPlaces, to) => {
      const got = exchangedUp(of, { decimals: fromPlaces, price: from }, { decimals: toPlaces, price: to });
      const worth = of * from.num * to.den * 10n ** BigInt(toPlaces);
      const unit = to.num * from.den * 10n ** BigInt(fromPlaces);
      expect(got * unit >= worth && (of === 0n ? got === 0n : (got - 1n) * unit < worth)).toBe(true);
    }),
  );
});

test('law: whole tokens are off by less than 2^-51 of themselves', () => {
  fc.assert(
    fc.property(fc.bigInt(1n, 2n ** 200n), fc.integer({ min: 0, max: 22 }), (of, places) => {
      // Every float is a fraction of 2^k; the product with 2^400 is an exact integer.
      const float = wholeTokens(of, places);
      const exact = of * 2n ** 400n;
      const shown = scaled(float) * 10n ** BigInt(places);
      const off = shown > exact ? shown - exact : exact - shown;
      expect(off * 2n ** 51n <= exact).toBe(true);
    }),
  );
});

/** Returns the float times 2^400, exactly. */
function scaled(float: number): bigint {
  let [mantissa, power] = [float, 0];
  while (!Number.isInteger(mantissa)) [mantissa, power] = [mantissa * 2, power + 1];
  return (BigInt(mantissa) * 2n ** 400n) >> BigInt(power);
}
