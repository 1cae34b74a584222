/** Token amounts: bigint base units, with the rounding direction in every name. */

import { RequestError } from './errors.ts';

/** Base units of one token; never negative on the wire. */
export type Amount = bigint;

export const MAX_UINT256 = (1n << 256n) - 1n;

const DECIMAL = /^(?:0|[1-9][0-9]{0,77})$/;

/**
 * Is this text an amount: decimal digits only, no sign, no leading zero, below 2^256? (`BigInt` alone would
 * take "", "0x10" and " 5 ".)
 */
export function isAmount(text: string): boolean {
  return DECIMAL.test(text) && (text.length < 78 || BigInt(text) <= MAX_UINT256);
}

const TENS = Array.from({ length: 79 }, (_, exponent) => 10n ** BigInt(exponent));

/** Returns 10^exponent, for 0 <= exponent. */
export const ten = (exponent: number): bigint => TENS[exponent] ?? 10n ** BigInt(exponent);

/**
 * Converts base units of a token with `from` decimals to those of one with `to` decimals, rounded towards
 * zero.
 */
export const convertDown = (amount: bigint, from: number, to: number): bigint =>
  to >= from ? amount * ten(to - from) : amount / ten(from - to);

/** Converts as `convertDown` does, rounded up. */
export const convertUp = (amount: bigint, from: number, to: number): bigint =>
  to >= from ? amount * ten(to - from) : divUp(amount, ten(from - to));

/** Returns floor(a * b / denominator), for non-negative a, b and positive denominator. */
export function mulDivDown(a: bigint, b: bigint, denominator: bigint): bigint {
  return (a * b) / denominator;
}

/** Returns ceil(a * b / denominator), for non-negative a, b and positive denominator. */
export function mulDivUp(a: bigint, b: bigint, denominator: bigint): bigint {
  return divUp(a * b, denominator);
}

/** ceil(a / b) for any sign of a and positive b. */
export function divUp(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a > 0n && quotient * b !== a ? quotient + 1n : quotient;
}

export const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
export const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Writes whole tokens for people: `formatUnits(24973895500n, 6)` is "24973.8955". Exact. */
export function formatUnits(amount: Amount, decimals: number): string {
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/**
 * Writes an amount in messages for people, such as "-1.445681017729416437 WETH". Exact. A token that is no
 * longer configured has no known decimals: its base units are named as such.
 */
export function formatTokens(
  amount: Amount,
  { decimals, symbol }: { decimals: number | null; symbol: string },
): string {
  return decimals === null
    ? `${amount} base units of ${symbol}`
    : `${formatUnits(amount, decimals)} ${symbol}`;
}

/**
 * Reads base units of a decimal text: `parseUnits("0.5", 6)` is 500000n. Throws `AmountError` on more
 * decimals than the token has.
 */
export function parseUnits(text: string, decimals: number): Amount {
  const match = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?$/.exec(text);
  const fraction = match?.[2] ?? '';
  if (!match || fraction.replace(/0+$/, '').length > decimals) throw new AmountError({ text });
  return BigInt(`${match[1]}${fraction.slice(0, decimals).padEnd(decimals, '0')}`);
}

export class AmountError extends RequestError {
  constructor({ text }: { text: string }) {
    super(
      `"${text.slice(0, 80)}" is not an amount: write decimal digits, no sign, no leading zero, below 2^256.`,
      { code: 'bad_request' },
    );
  }
}
