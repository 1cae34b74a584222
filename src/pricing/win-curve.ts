/**
 * The win-rate curve learned from what became of our quotes: online logistic regression of "taken" on the
 * all-in spread, as a Gaussian belief about (alpha, beta) that every outcome moves by one Newton step. It
 * starts at the configured curve, so that with few outcomes it says what the operator said.
 */

export interface Curve {
  alpha: number;
  beta: number;
}

/** What is believed, and how firmly: mean and precision (inverse covariance) of (alpha, beta). */
export interface CurveFit extends Curve {
  aa: number;
  ab: number;
  bb: number;
  won: number;
  lost: number;
}

export interface WinObservation {
  /** All-in, bps of mid: what the taker was asked to pay. */
  delta: number;
  won: boolean;
  /** Of a lost one, what the winner asked, where the venue tells. */
  winnerDelta?: number;
}

/** Where a fit is taken seriously: steeper or flatter than this is noise. */
const LEAST_BETA = 0.05;
const MOST_BETA = 2;
/** How far off the configuration may be: standard deviations of alpha, and of beta as a share of itself. */
const PRIOR_ALPHA = 1.5;
const PRIOR_BETA_SHARE = 0.5;

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

export function startFit({ alpha, beta }: Curve): CurveFit {
  return {
    alpha,
    beta: clamp(beta, LEAST_BETA, MOST_BETA),
    aa: 1 / PRIOR_ALPHA ** 2,
    ab: 0,
    bb: 1 / (PRIOR_BETA_SHARE * beta) ** 2,
    won: 0,
    lost: 0,
  };
}

/**
 * The fit after one more outcome. `kept` below 1 forgets: the weight of what is old falls by it with every
 * outcome, down to the weight that the configuration had at the start.
 *
 * A win says that the best alternative R lay above delta, a loss that it lay below; with the winner's price R
 * itself is seen, and R is logistic: density beta * f * (1 - f).
 */
export function learn(fit: CurveFit, { delta, won, winnerDelta }: WinObservation, kept = 1): CurveFit {
  const at = !won && winnerDelta !== undefined && winnerDelta < delta ? winnerDelta : delta;
  const seen = at !== delta;
  const f = 1 / (1 + Math.exp(fit.alpha + fit.beta * at));
  const curvature = f * (1 - f) * (seen ? 2 : 1);
  const pull = seen ? 2 * f - 1 : f - (won ? 1 : 0);
  const prior = startFit(fit);
  const aa = Math.max(fit.aa * kept, prior.aa) + curvature;
  const ab = fit.ab * kept + curvature * at;
  const bb = Math.max(fit.bb * kept, prior.bb) + curvature * at * at + (seen ? 1 / fit.beta ** 2 : 0);
  const [a, b] = [pull, pull * at + (seen ? 1 / fit.beta : 0)];
  const determinant = aa * bb - ab * ab;
  return {
    alpha: clamp(fit.alpha + (bb * a - ab * b) / determinant, -20, 20),
    beta: clamp(fit.beta + (aa * b - ab * a) / determinant, LEAST_BETA, MOST_BETA),
    aa,
    ab,
    bb,
    won: fit.won + (won ? 1 : 0),
    lost: fit.lost + (won ? 0 : 1),
  };
}

export interface CurveTrust {
  /** Outcomes before a fit is used at all, a twentieth of them of either kind. */
  minOutcomes: number;
  /** The most that the spread taken by half of all takers may be moved away from the configured curve. */
  maxShiftBps: number;
}

/**
 * The curve to price with, or undefined while too little is known. Who asks much and takes nothing teaches us
 * to be cheap, at no cost to them; that is why a fit may lead only so far away from what the operator
 * configured.
 */
export function trusted(
  fit: CurveFit,
  configured: Curve,
  { minOutcomes, maxShiftBps }: CurveTrust,
): Curve | undefined {
  if (fit.won + fit.lost < minOutcomes || Math.min(fit.won, fit.lost) < minOutcomes / 20) return undefined;
  const beta = clamp(fit.beta, configured.beta / 2, configured.beta * 2);
  const half = -configured.alpha / configured.beta;
  return { alpha: -beta * clamp(-fit.alpha / fit.beta, half - maxShiftBps, half + maxShiftBps), beta };
}

/** Sizes in the reference currency that are told apart: below 1,000, 10,000, 100,000, and above. */
export const SIZE_BUCKETS = [1_000, 10_000, 100_000] as const;
export const sizeBucket = (size: number): number => {
  let bucket = 0;
  for (const bound of SIZE_BUCKETS) if (size >= bound) bucket += 1;
  return bucket;
};

/**
 * Noise for a share of quotes, up or down by `bps`: the same for the same key, so that a record can be
 * checked and asking again gains nothing.
 */
export function exploration(key: string, { share, bps }: { share: number; bps: number }): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash = (hash ^ (hash >>> 16)) >>> 0;
  if (hash >>> 1 >= share * 0x80000000) return 0;
  return (hash & 1) === 0 ? bps : -bps;
}
