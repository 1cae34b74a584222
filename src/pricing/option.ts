/**
 * Value of the option in a firm quote: the right to trade at our spread from the mid until it expires.
 * Diffusion is a Bachelier call with the spread as strike; jumps of the mid are Laplace, half of them against
 * us.
 */

import { normalCdf, normalPdf } from './special.ts';

export const YEAR_SECONDS = 31_536_000;

export interface MidMotion {
  /** One standard deviation of the mid over the life of the quote, in bps: sigma_s * sqrt(T). */
  deviation: number;
  /** Expected number of jumps over that life. */
  jumps: number;
  /** Mean size of a jump. */
  jumpBps: number;
}

/** Converts an annualised volatility (0.9 is 90 %) to sigma_s: bps per square root of a second. */
export function perRootSecond(sigma: number): number {
  return (sigma * 1e4) / Math.sqrt(YEAR_SECONDS);
}

export function annualised(sigmaPerRootSecond: number): number {
  return (sigmaPerRootSecond * Math.sqrt(YEAR_SECONDS)) / 1e4;
}

/** E[(M - strike)+] for M normal with mean 0. */
export function bachelierCall(strike: number, deviation: number): number {
  if (deviation <= 0) return Math.max(-strike, 0);
  const d = strike / deviation;
  return Math.max(deviation * (normalPdf(d) - d * normalCdf(-d)), 0);
}

export function jumpCost(strike: number, { jumps, jumpBps }: MidMotion): number {
  return jumps === 0 ? 0 : 0.5 * jumps * jumpBps * Math.exp(-Math.max(strike, 0) / jumpBps);
}

/** Returns -dC/dD: the probability of exercise by diffusion or jump. Positive. */
export function optionSlope(strike: number, { deviation, jumps, jumpBps }: MidMotion): number {
  const byDiffusion = deviation > 0 ? normalCdf(-strike / deviation) : strike < 0 ? 1 : 0;
  return byDiffusion + (strike > 0 ? 0.5 * jumps * Math.exp(-strike / jumpBps) : 0);
}

/** Returns C(D) of the model, in bps. */
export function optionCost(strike: number, motion: MidMotion): number {
  return bachelierCall(strike, motion.deviation) + jumpCost(strike, motion);
}
