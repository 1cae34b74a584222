/**
 * Checks the two amounts that will be signed by their USD values alone, independently of pricing: our output
 * must be worth at most the input less the minimum spread. It runs before the output is held.
 */

import { ten } from '../../domain/amount.ts';
import type { Rational } from '../../pricing/rational.ts';

export interface Deal {
  /** Base units that the taker pays for our slice, before fees, and that we deliver. */
  input: bigint;
  output: bigint;
  inputDecimals: number;
  outputDecimals: number;
  /** USD for one whole token. */
  inputUsd: Rational;
  outputUsd: Rational;
  spreadBps: number;
  minSpreadBps: number;
  /** The pair's largest trade in USD; nothing larger is signed. */
  maxUsd: number;
}

/** Limits of every quote, whatever its pair is configured to. */
export interface DealLimits {
  leastBps: number;
  mostBps: number;
  /** Output over the value of the input, at most. */
  aboveMid: number;
  maxUsd: number;
}

export function fatFinger(
  deal: Deal,
  limits: DealLimits,
): 'nothing' | 'spread' | 'above_mid' | 'too_large' | undefined {
  const { input, output, inputDecimals, outputDecimals, inputUsd, outputUsd } = deal;
  if (input <= 0n || output <= 0n) return 'nothing';
  // NaN must fail too.
  if (!(deal.spreadBps >= limits.leastBps && deal.spreadBps <= limits.mostBps)) return 'spread';
  // input / 10^di * Pi * (1 - s) >= output / 10^do * Po, cross-multiplied to avoid rounding.
  const paid = input * ten(outputDecimals) * inputUsd.num * outputUsd.den;
  const delivered = output * ten(inputDecimals) * outputUsd.num * inputUsd.den;
  if (delivered * WHOLE > paid * (WHOLE - BigInt(Math.floor(deal.minSpreadBps * 1e4)))) return 'above_mid';
  if (delivered * WHOLE > paid * BigInt(Math.round(limits.aboveMid * Number(WHOLE)))) return 'above_mid';
  const cap = BigInt(Math.ceil(Math.min(deal.maxUsd, limits.maxUsd))) * ten(inputDecimals) * inputUsd.den;
  // One per cent of tolerance, because pricing measures the size by the mid of the pair.
  return input * inputUsd.num * 100n > cap * 101n ? 'too_large' : undefined;
}

/** 100 % in 1e-4 bps. */
const WHOLE = 100_000_000n;
