/**
 * A second opinion before anything is signed, by another path than pricing: the two legs are valued in USD on
 * their own, and what we pay may never be worth more than what the taker brings, less the least spread.
 */

import type { Rational } from '../../pricing/rational.ts';
import { ten } from '../../pricing/rational.ts';

export interface Deal {
  /** Base units the taker brings for our slice, before fees, and base units we deliver. */
  input: bigint;
  output: bigint;
  inputDecimals: number;
  outputDecimals: number;
  /** USD for one whole token. */
  inputUsd: Rational;
  outputUsd: Rational;
  /** D, all-in. */
  spreadBps: number;
  /** Of the pair. */
  minSpreadBps: number;
  /** USD, of the pair; nothing larger than this is signed whatever pricing says. */
  maxUsd: number;
}

/** What no promise may go beyond, whatever its pair is told. */
export interface Bounds {
  leastBps: number;
  mostBps: number;
  /** Output over the value of the input, at most. */
  aboveMid: number;
  maxUsd: number;
}

/** Why this must not be signed; undefined when nothing is wrong. */
export function fatFinger(
  deal: Deal,
  bounds: Bounds,
): 'nothing' | 'spread' | 'above_mid' | 'too_large' | undefined {
  const { input, output, inputDecimals, outputDecimals, inputUsd, outputUsd } = deal;
  if (input <= 0n || output <= 0n) return 'nothing';
  // Written so that a spread that is no number fails too.
  if (!(deal.spreadBps >= bounds.leastBps && deal.spreadBps <= bounds.mostBps)) return 'spread';
  // input / 10^di * Pi * (1 - s)  >=  output / 10^do * Po, cross-multiplied: no division, no rounding.
  const brought = input * ten(outputDecimals) * inputUsd.num * outputUsd.den;
  const given = output * ten(inputDecimals) * outputUsd.num * inputUsd.den;
  if (given * WHOLE > brought * (WHOLE - BigInt(Math.floor(deal.minSpreadBps * 1e4)))) return 'above_mid';
  if (given * WHOLE > brought * BigInt(Math.round(bounds.aboveMid * Number(WHOLE)))) return 'above_mid';
  const cap = BigInt(Math.ceil(Math.min(deal.maxUsd, bounds.maxUsd))) * ten(inputDecimals) * inputUsd.den;
  // One per cent of slack: pricing measures the size by the mid of the pair.
  return input * inputUsd.num * 100n > cap * 101n ? 'too_large' : undefined;
}

/** 100 % in 1e-4 bps. */
const WHOLE = 100_000_000n;
