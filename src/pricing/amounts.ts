/**
 * Integer arithmetic of pricing: base units in and out, rounded in favour of the LP.
 *
 *  out = floor(gross * (1 - spread)) - ceil(gross * fee) - gas,   gross = floor(in * rate)
 *
 * The formula drops by one unit where the ceiling of the fee rises and the floor of the spread does not (once
 * in about gross = 5e7 at 8.2978 and 2 bps): more input would buy less. `exactIn` therefore pays the maximum
 * over this and all smaller inputs. The next unit of gross recovers a drop while spread and fee are each at
 * most 50 %, so looking one unit back is enough.
 *
 * Why the LP loses nothing on chain: on release the escrow keeps floor(in * feeBps / 1e4) and relayFee. The
 * rest is worth at mid at least gross * (1 - fee) - ceil(relayFee * rate). The LP pays at most gross * (1 -
 * spread - fee) - gas, and gas contains ceil(relayFee * rate). The difference is the spread and its own gas.
 */

import { divUp, mulDivUp, ten } from '../domain/amount.ts';
import type { Rational } from './rational.ts';

/** 100 % in the unit of the spread, 1e-4 bps. */
export const WHOLE = 100_000_000n;
const BPS = 10_000n;

/** The widest spread and fee that `exactIn` is proven monotone for. */
export const MOST_SPREAD = WHOLE / 2n;
export const MOST_FEE_BPS = 5_000;

export interface Charges {
  /** Output base units for one input base unit, at mid. */
  rate: Rational;
  /** D - fee - gas, 1e-4 bps. */
  spread: bigint;
  feeBps: bigint;
  /** Output base units: own gas with buffer, and the relay fee at mid. */
  gas: bigint;
}

/** Returns the output base units for one input base unit. `lp` 'buy' takes base and pays quote. */
export function baseUnitRate(
  mid: Rational,
  lp: 'buy' | 'sell',
  baseDecimals: number,
  quoteDecimals: number,
): Rational {
  const num = mid.num * ten(quoteDecimals);
  const den = mid.den * ten(baseDecimals);
  return lp === 'buy' ? { num, den } : { num: den, den: num };
}

export const grossOf = (input: bigint, { num, den }: Rational): bigint => (input * num) / den;

export const feeOf = (gross: bigint, feeBps: bigint): bigint => mulDivUp(gross, feeBps, BPS);

/** Returns the input less the platform fee as the escrow computes it, less the relay fee. */
export function receivedOf(input: bigint, feeBps: bigint, relayFee: bigint): bigint {
  return input - (input * feeBps) / BPS - relayFee;
}

/** Returns the output for an input. Negative when it does not cover gas. */
export function exactIn(input: bigint, charges: Charges): bigint {
  return paid(grossOf(input, charges.rate), charges);
}

/** Returns the output for a gross: the formula made monotone. */
export function paid(gross: bigint, charges: Charges): bigint {
  const here = formula(gross, charges);
  if (gross === 0n) return here;
  const before = formula(gross - 1n, charges);
  return before > here ? before : here;
}

function formula(gross: bigint, { spread, feeBps, gas }: Charges): bigint {
  return (gross * (WHOLE - spread)) / WHOLE - feeOf(gross, feeBps) - gas;
}

/**
 * Returns the smallest input that buys at least `output`: `exactIn(x) >= output > exactIn(x - 1)`. For output
 * > 0.
 */
export function exactOut(output: bigint, charges: Charges): bigint {
  const { rate, spread, feeBps, gas } = charges;
  // A lower bound, because paid <= gross * keep. Rounding adds at most a few units.
  const keep = WHOLE - spread - feeBps * BPS;
  let gross = divUp((output + gas) * WHOLE, keep);
  while (paid(gross, charges) < output) gross += 1n;
  return divUp(gross * rate.den, rate.num);
}

export function largestInput(output: bigint, charges: Charges): bigint {
  return exactOut(output + 1n, charges) - 1n;
}
