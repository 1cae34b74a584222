/**
 * Exponentially weighted variance of the mid over three horizons: bursts widen quotes within seconds, and a
 * quiet period does not erase the day. A floor bounds it at the start.
 */

import { annualised, perRootSecond } from './option.ts';

/** Time constants in seconds. */
const HORIZONS = [60, 600, 86_400] as const;

/** bps² per second, one per horizon. */
type Variances = readonly [number, number, number];

export interface Volatility {
  variances: Variances;
  seconds: number;
  /** The last mid that was counted; undefined before the first, and after a change of sources. */
  last: { mid: number; atMs: number } | undefined;
}

export const UNSEEN: Volatility = { variances: [0, 0, 0], seconds: 0, last: undefined };

/** Moves within this time are order book noise. */
const LEAST_STEP_MS = 1_000;

/** One step of the recursion for a move of `bps` over `seconds`. */
export function decay(variance: number, bps: number, seconds: number, horizon: number): number {
  const kept = Math.exp(-seconds / horizon);
  return variance * kept + ((1 - kept) * bps * bps) / seconds;
}

/** Returns the same state within one second or when time ran backwards. */
export function observeMid(state: Volatility, mid: number, atMs: number): Volatility {
  if (!(mid > 0) || !Number.isFinite(mid)) return state;
  if (state.last === undefined) return { ...state, last: { mid, atMs } };
  const elapsedMs = atMs - state.last.atMs;
  if (elapsedMs < LEAST_STEP_MS) return state;
  const bps = Math.log(mid / state.last.mid) * 1e4;
  const seconds = elapsedMs / 1000;
  const [short, medium, long] = state.variances;
  const variances = [
    decay(short, bps, seconds, HORIZONS[0]),
    decay(medium, bps, seconds, HORIZONS[1]),
    decay(long, bps, seconds, HORIZONS[2]),
  ] as const;
  return { variances, seconds: state.seconds + seconds, last: { mid, atMs } };
}

/** Returns the annualised volatility for pricing: the larger of the two short horizons, at least `floor`. */
export function sigmaOf({ variances }: Volatility, floor: number): number {
  return Math.max(annualised(Math.sqrt(Math.max(variances[0], variances[1]))), floor);
}

/**
 * Volatility of the last minute over that of the day; 0 without data. Each average is scaled by the share of
 * its horizon that has been observed: otherwise every start would look like a spike for hours.
 */
export function volatilityRatio({ variances, seconds }: Volatility): number {
  if (!(seconds > 0) || variances[2] <= 0) return 0;
  const short = variances[0] / -Math.expm1(-seconds / HORIZONS[0]);
  const day = variances[2] / -Math.expm1(-seconds / HORIZONS[2]);
  return Math.sqrt(short / day);
}

/** Returns one standard deviation of the mid over `seconds`, in bps. */
export function deviationOver(sigma: number, seconds: number): number {
  return perRootSecond(sigma) * Math.sqrt(seconds);
}

/**
 * The sample by which the volatility regime is updated. `ratio`: of `volatilityRatio`. A minute below the
 * volatility floor is no spike, however quiet the day was.
 */
export function regimeSample(
  mid: number,
  sigma: number,
  ratio: number,
  sigmaFloor: number,
): { mid: number; volatilityRatio: number; secondBps: number } {
  return { mid, volatilityRatio: sigma > sigmaFloor ? ratio : 0, secondBps: deviationOver(sigma, 1) };
}
