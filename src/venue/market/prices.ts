/** Reference prices: the value of an amount, and what the relayer must be paid in the input token. */

import { divUp, formatUnits } from '../../domain/amount.ts';
import type { TokenInfo } from '../../domain/chain.ts';
import type { Reference } from '../../ports/reference.ts';

const E8 = 100_000_000n;
const NATIVE_DECIMALS = 18;

/**
 * Output per input in whole tokens, cut after so many significant digits; "0" for no input. No quotient of
 * two token amounts needs more than 78 decimals.
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

export type Prices = ReturnType<typeof createPrices>;

export function createPrices(reference: Reference) {
  const usdE8 = (token: TokenInfo) =>
    token.priceSymbol === null ? undefined : reference.usdE8(token.priceSymbol);
  const worthE8 = (priceE8: bigint, amount: bigint, decimals: number) =>
    (priceE8 * amount) / 10n ** BigInt(decimals);
  const show = (valueE8: bigint | undefined) => (valueE8 === undefined ? null : Number(valueE8) / 1e8);
  return {
    priceUsd: (token: TokenInfo) => show(usdE8(token)),
    amountUsd(token: TokenInfo, amount: bigint) {
      const price = usdE8(token);
      return price === undefined ? null : show(worthE8(price, amount, token.decimals));
    },
    nativeUsd(symbol: string, wei: bigint) {
      const price = reference.usdE8(symbol);
      return price === undefined ? null : show(worthE8(price, wei, NATIVE_DECIMALS));
    },
    /** Base units of the token, rounded up. undefined without both prices. */
    tokenForNativeUp(token: TokenInfo, nativeSymbol: string, wei: bigint) {
      const [tokenPrice, nativePrice] = [usdE8(token), reference.usdE8(nativeSymbol)];
      if (tokenPrice === undefined || nativePrice === undefined || tokenPrice <= 0n) return undefined;
      return divUp(
        wei * nativePrice * 10n ** BigInt(token.decimals),
        tokenPrice * 10n ** BigInt(NATIVE_DECIMALS),
      );
    },
    /** What the amount is worth in another token, rounded down. undefined without both prices. */
    exchangedDown(from: TokenInfo, amount: bigint, to: TokenInfo) {
      const [fromPrice, toPrice] = [usdE8(from), usdE8(to)];
      if (fromPrice === undefined || toPrice === undefined || toPrice <= 0n) return undefined;
      return (amount * fromPrice * 10n ** BigInt(to.decimals)) / (toPrice * 10n ** BigInt(from.decimals));
    },
    /** (value received / value paid) - 1; negative is worse for the taker. */
    deltaFromMid(input: TokenInfo, inputAmount: bigint, output: TokenInfo, outputAmount: bigint) {
      const [inputPrice, outputPrice] = [usdE8(input), usdE8(output)];
      if (inputPrice === undefined || outputPrice === undefined) return null;
      // The quotient keeps eight digits; only it becomes a number.
      const worth = inputPrice * inputAmount * 10n ** BigInt(output.decimals);
      if (worth === 0n) return null;
      const got = outputPrice * outputAmount * 10n ** BigInt(input.decimals);
      return Number(((got - worth) * E8) / worth) / 1e8;
    },
  };
}
