/**
 * Solves markup and firmness premium together: the strike of the premium contains the markup, and the markup
 * depends on a cost that contains the premium. x rises and omega * C(D(x)) falls, so there is one root;
 * Newton finds it in about three rounds, bisection is the fallback.
 */

import { optionCost, optionSlope, type MidMotion } from './option.ts';
import { lambertWExp } from './special.ts';

interface WinCurve {
  alpha: number;
  beta: number;
  minEdgeBps: number;
}

interface FirmnessPremium {
  x: number;
  m: number;
  D: number;
}

const ROUNDS = 50;
const ENOUGH = 1e-12;

/** The markup on an all-in cost that maximises (delta - cost) * f(delta), never below the least edge. */
export function markup(cost: number, { alpha, beta, minEdgeBps }: WinCurve): number {
  return Math.max((1 + lambertWExp(-1 - alpha - beta * cost)) / beta, minEdgeBps);
}

export function winProbability(delta: number, { alpha, beta }: Pick<WinCurve, 'alpha' | 'beta'>): number {
  return 1 / (1 + Math.exp(alpha + beta * delta));
}

/**
 * Solves x = omega * C(D), D = cost + x + m + after. `cost` passes through the markup (c0 and fee); `after`
 * is added behind it (skew that passes one to one, else 0).
 */
export function firmness(
  cost: number,
  after: number,
  omega: number,
  curve: WinCurve,
  motion: MidMotion,
): FirmnessPremium {
  let x = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const w = lambertWExp(-1 - curve.alpha - curve.beta * (cost + x));
    const best = (1 + w) / curve.beta;
    const m = Math.max(best, curve.minEdgeBps);
    const D = cost + x + m + after;
    const gap = omega * optionCost(D, motion) - x;
    if (Math.abs(gap) < ENOUGH * Math.max(1, x)) return { x, m, D };
    // One bp of premium raises D by 1 / (1 + W), or by 1 at the least edge.
    const passed = best < curve.minEdgeBps ? 1 : 1 / (1 + w);
    x = Math.max(0, x + gap / (1 + omega * optionSlope(D, motion) * passed));
  }
  return bisect(cost, after, omega, curve, motion);
}

/** Finds the same root by bisection. */
export function bisect(
  cost: number,
  after: number,
  omega: number,
  curve: WinCurve,
  motion: MidMotion,
): FirmnessPremium {
  const allIn = (x: number) => cost + x + markup(cost + x, curve) + after;
  let low = 0;
  let high = omega * optionCost(allIn(0), motion);
  for (let round = 0; round < 200 && high - low > ENOUGH; round++) {
    const x = (low + high) / 2;
    if (omega * optionCost(allIn(x), motion) > x) low = x;
    else high = x;
  }
  // The upper end: rounding favours the LP.
  const m = markup(cost + high, curve);
  return { x: high, m, D: cost + high + m + after };
}
