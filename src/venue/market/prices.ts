/** Reference prices: the value of an amount, and what the relayer must be paid in the input token. */

import { formatUnits, ten } from '../../domain/amount.ts';
import { type NativeCurrency, nativeTokenUnitsUp, type TokenInfo } from '../../domain/chain.ts';
import type { Reference } from '../../ports/reference.ts';
import { divide, type Rational, toNumber } from '../../pricing/rational.ts';
import { exchangedUp, usdUp } from '../../pricing/usd.ts';

const E8 = 100_000_000n;
const NATIVE_DECIMALS = 18;
/** A shown price has this many significant digits; more digits are noise of the float. */
const SHOWN_DIGITS = 15;

/**
 * Divides output by input in whole tokens, and cuts after so many significant digits; "0" for no input. No
 * quotient of two token amounts needs more than 78 decimals.
 */
export function priceText(
  [outputs, outputDecimals]: readonly [bigint, number],
  [inputs, inputDecimals]: readonly [bigint, number],
  significant: number,
): string {
  if (inputs === 0n) return '0';
  const scaled = (outputs * 10n ** BigInt(inputDecimals + 78)) / (inputs * 10n ** BigInt(outputDecimals));
  const digits = scaled.toString();
  return formatUnits(BigInt(digits.slice(0, significant).padEnd(digits.length, '0')), 78);
}

/** Rounds a price for people, which removes the noise of the float. */
export const shown = (value: number): number => Number(value.toPrecision(SHOWN_DIGITS));

export interface Prices {
  priceUsd(token: TokenInfo): number | null;
  /**
   * Values an amount in USD, rounded up. null without a price: a check must then assume the largest amount.
   */
  amountUsd(token: TokenInfo, amount: bigint): number | null;
  /**
   * Values a trade in USD by its more valuable side, rounded up. Prices that are too old count, because an
   * estimate is better than none. null where neither side ever had a price.
   */
  estimateUsd(sides: readonly (readonly [TokenInfo, bigint])[]): number | null;
  nativeUsd(nativeCurrency: NativeCurrency, wei: bigint): number | null;
  /** Converts wei to base units of the token, rounded up. undefined without both prices. */
  tokenForNativeUp(token: TokenInfo, native: NativeCurrency, wei: bigint): bigint | undefined;
  /**
   * Converts the amount to base units of another token at the mids, rounded up. undefined without both
   * prices.
   */
  exchangedUp(from: TokenInfo, amount: bigint, to: TokenInfo): bigint | undefined;
  /** Returns (value received / value paid) - 1; negative is worse for the taker. */
  deltaFromMid(input: TokenInfo, inputAmount: bigint, output: TokenInfo, outputAmount: bigint): number | null;
}

export function createPrices(reference: Reference): Prices {
  const usd = (token: TokenInfo) =>
    token.priceSymbol === null ? undefined : reference.usd(token.priceSymbol);
  const lastUsd = (token: TokenInfo) =>
    token.priceSymbol === null ? undefined : reference.lastUsd(token.priceSymbol);
  /** Values an amount in USD to 1e-8, rounded up, so that no amount that is worth something becomes 0. */
  const worthUp = (price: Rational | undefined, amount: bigint, decimals: number) =>
    price === undefined ? null : Number(usdUp(amount, { decimals, price }, E8)) / 1e8;
  return {
    priceUsd(token: TokenInfo) {
      const price = usd(token);
      return price === undefined ? null : shown(toNumber(price));
    },
    amountUsd: (token: TokenInfo, amount: bigint) => worthUp(usd(token), amount, token.decimals),
    estimateUsd(sides: readonly (readonly [TokenInfo, bigint])[]) {
      const known = sides.flatMap(([token, amount]) => worthUp(lastUsd(token), amount, token.decimals) ?? []);
      return known.length === 0 ? null : Math.max(...known);
    },
    nativeUsd: ({ priceSymbol }: NativeCurrency, wei: bigint) =>
      worthUp(reference.usd(priceSymbol), wei, NATIVE_DECIMALS),
    tokenForNativeUp(token: TokenInfo, native: NativeCurrency, wei: bigint) {
      // The same money needs no price.
      if (native.token?.address === token.address) return nativeTokenUnitsUp(native, wei);
      const [tokenPrice, nativePrice] = [usd(token), reference.usd(native.priceSymbol)];
      if (tokenPrice === undefined || nativePrice === undefined) return undefined;
      return exchangedUp(
        wei,
        { decimals: NATIVE_DECIMALS, price: nativePrice },
        { decimals: token.decimals, price: tokenPrice },
      );
    },
    exchangedUp(from: TokenInfo, amount: bigint, to: TokenInfo) {
      const [fromPrice, toPrice] = [usd(from), usd(to)];
      if (fromPrice === undefined || toPrice === undefined) return undefined;
      return exchangedUp(
        amount,
        { decimals: from.decimals, price: fromPrice },
        { decimals: to.decimals, price: toPrice },
      );
    },
    deltaFromMid(input: TokenInfo, inputAmount: bigint, output: TokenInfo, outputAmount: bigint) {
      const [inputPrice, outputPrice] = [usd(input), usd(output)];
      if (inputPrice === undefined || outputPrice === undefined || inputAmount === 0n) return null;
      // The quotient keeps eight digits; only it becomes a number.
      const { num, den } = divide(outputPrice, inputPrice);
      const worth = inputAmount * ten(output.decimals) * den;
      const got = outputAmount * ten(input.decimals) * num;
      return Number(((got - worth) * E8) / worth) / 1e8;
    },
  };
}
