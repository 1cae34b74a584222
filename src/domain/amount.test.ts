import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  AmountError,
  convertDown,
  convertUp,
  divUp,
  formatUnits,
  isAmount,
  MAX_UINT256,
  mulDivDown,
  mulDivUp,
  parseUnits,
} from './amount.ts';

const nat = fc.bigInt(0n, MAX_UINT256);
const positive = fc.bigInt(1n, 1n << 128n);

test('law: every printed uint256 is an amount', () => {
  fc.assert(fc.property(nat, (n) => isAmount(n.toString())));
});

test('law: units round-trip for any decimals', () => {
  fc.assert(
    fc.property(
      nat,
      fc.integer({ min: 0, max: 36 }),
      (n, decimals) => parseUnits(formatUnits(n, decimals), decimals) === n,
    ),
  );
});

test.each([
  '-1',
  '0x10',
  '1e18',
  '1.0',
  '',
  ' 5 ',
  '+1',
  '01',
  '9'.repeat(78),
  (MAX_UINT256 + 1n).toString(),
  'NaN',
  '１２',
])('error: %j is not an amount', (text) => {
  expect(isAmount(text)).toBe(false);
});

test('law: rounded down <= exact <= rounded up, at most one apart, equal when it divides', () => {
  fc.assert(
    fc.property(nat, positive, positive, (a, b, d) => {
      const [down, up] = [mulDivDown(a, b, d), mulDivUp(a, b, d)];
      expect(down * d <= a * b && a * b <= up * d).toBe(true);
      expect(up - down).toBe((a * b) % d === 0n ? 0n : 1n);
    }),
  );
});

test('law: units of other decimals are off by less than one, on the side that the name says', () => {
  const places = fc.integer({ min: 0, max: 36 });
  fc.assert(
    fc.property(nat, places, places, (n, from, to) => {
      const [exact, unit] = [n * 10n ** BigInt(to), 10n ** BigInt(from)];
      const [down, up] = [convertDown(n, from, to), convertUp(n, from, to)];
      expect(down * unit <= exact && exact < (down + 1n) * unit).toBe(true);
      expect((up - 1n) * unit < exact && exact <= up * unit).toBe(true);
      expect(convertDown(-n, from, to)).toBe(-down);
    }),
  );
});

test('law: signed division rounds up', () => {
  fc.assert(
    fc.property(fc.bigInt(-(1n << 80n), 1n << 80n), positive, (a, b) => {
      expect(divUp(a, b) * b >= a && a > (divUp(a, b) - 1n) * b).toBe(true);
    }),
  );
});

test('behavior: refuses more decimals than the token has, except trailing zeros', () => {
  expect(parseUnits('1.500000', 6)).toBe(1_500_000n);
  expect(parseUnits('1.50', 1)).toBe(15n);
  expect(() => parseUnits('1.0000001', 6)).toThrow(AmountError);
  expect(formatUnits(24_973_895_500n, 6)).toBe('24973.8955');
});
