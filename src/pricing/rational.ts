/** Exact fractions of bigints: prices never pass through a float. */

import { ten } from '../domain/amount.ts';

export interface Rational {
  num: bigint;
  /** Positive. */
  den: bigint;
}

const DECIMAL = /^(0|[1-9][0-9]{0,77})(?:\.([0-9]{1,78}))?$/;

/**
 * `parseDecimal("2500.10")` is {num: 250010n, den: 100n}. undefined for signs, exponents, empty parts and
 * oversize.
 */
export function parseDecimal(text: string): Rational | undefined {
  const match = DECIMAL.exec(text);
  if (!match) return undefined;
  const fraction = match[2] ?? '';
  return { num: BigInt(match[1] + fraction), den: ten(fraction.length) };
}

/** Reduces to lowest terms, because short numbers multiply faster. */
export function reduced({ num, den }: Rational): Rational {
  let [a, b] = [num, den];
  while (b !== 0n) [a, b] = [b, a % b];
  return a > 1n ? { num: num / a, den: den / a } : { num, den };
}

/** Returns a / b, as in the cross rate A/USD ÷ B/USD. b is not zero. */
export function divide(a: Rational, b: Rational): Rational {
  return { num: a.num * b.den, den: a.den * b.num };
}

export function midpoint(a: Rational, b: Rational): Rational {
  return a.den === b.den
    ? { num: a.num + b.num, den: 2n * a.den }
    : { num: a.num * b.den + b.num * a.den, den: 2n * a.den * b.den };
}

/** Returns a negative number, zero or a positive one, as a is below, equal to or above b. */
export function compare(a: Rational, b: Rational): number {
  const difference = a.num * b.den - b.num * a.den;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Returns the nearest float, for terms in bps and display only. */
export function toNumber({ num, den }: Rational): number {
  const ratio = Number(num) / Number(den);
  if (Number.isFinite(ratio)) return ratio;
  const shift = BigInt(Math.max(0, den.toString(2).length - 1000));
  return Number(num >> shift) / Number(den >> shift);
}
