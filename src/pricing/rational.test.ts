import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compare, divide, midpoint, parseDecimal, reduced, toNumber } from './rational.ts';

const rational = fc.record({ num: fc.bigInt(0n, 10n ** 40n), den: fc.bigInt(1n, 10n ** 40n) });

test('reduces to the smallest terms', () => {
  expect(reduced({ num: 10n ** 22n, den: 4n * 10n ** 18n })).toEqual({ num: 2_500n, den: 1n });
  expect(reduced({ num: 0n, den: 7n })).toEqual({ num: 0n, den: 1n });
  fc.assert(
    fc.property(rational, fc.bigInt(1n, 10n ** 20n), ({ num, den }, factor) => {
      const small = reduced({ num: num * factor, den: den * factor });
      expect(compare(small, { num, den })).toBe(0);
      expect(small).toEqual(reduced({ num, den }));
    }),
  );
});

test("a feed's decimal text stays exact through cross rates and midpoints", () => {
  const [eth, usd] = [parseDecimal('2500.25'), parseDecimal('0.9996')] as [
    { num: bigint; den: bigint },
    { num: bigint; den: bigint },
  ];
  expect(reduced(divide(eth, usd))).toEqual({ num: 6_250_625n, den: 2_499n });
  expect(reduced(midpoint(eth, { num: 2_500n, den: 1n }))).toEqual({ num: 20_001n, den: 8n });
  expect(toNumber({ num: 10n ** 400n, den: 4n * 10n ** 400n })).toBe(0.25);
});
