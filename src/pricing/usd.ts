/**
 * Values amounts in USD, and converts them into another token at the prices of both. Exact: prices are
 * fractions, and the direction of rounding is in each name. `fat-finger.ts` and `check.ts` share none of it,
 * because they check what was computed with it.
 */

import { mulDivUp, ten } from '../domain/amount.ts';
import type { Rational } from './rational.ts';

/** A token and the USD for one whole token. */
interface PricedToken {
  decimals: number;
  price: Rational;
}

/** Returns the value in units of USD / `perUsd`, rounded towards zero. */
export const usdDown = (amount: bigint, { decimals, price }: PricedToken, perUsd = 1n): bigint =>
  (amount * price.num * perUsd) / (price.den * ten(decimals));

/** Returns the value in units of USD / `perUsd`, rounded up. */
export const usdUp = (amount: bigint, { decimals, price }: PricedToken, perUsd = 1n): bigint =>
  mulDivUp(amount * perUsd, price.num, price.den * ten(decimals));

/** Converts base units of one token to those of another of the same value, rounded up. */
export const exchangedUp = (amount: bigint, from: PricedToken, to: PricedToken): bigint =>
  mulDivUp(
    amount * ten(to.decimals),
    from.price.num * to.price.den,
    from.price.den * to.price.num * ten(from.decimals),
  );

/** Returns whole tokens as a float, for measures and display: it never becomes an amount of a token. */
export const wholeTokens = (units: bigint, decimals: number): number => Number(units) / 10 ** decimals;
