/**
 * Learns the win-rate curve from outcomes of our quotes: online logistic regression of "taken" on the all-in
 * spread, with one Newton step per outcome on a Gaussian belief about (alpha, beta). The prior is the
 * configured curve.
 */

export interface Curve {
  alpha: number;
  beta: number;
}

/** Mean and precision (inverse covariance) of (alpha, beta). */
export interface CurveFit extends Curve {
  aa: number;
  ab: number;
  bb: number;
  won: number;
  lost: number;
}

interface WinObservation {
  /** All-in spread, bps of mid. */
  delta: number;
  won: boolean;
  /** The all-in spread of the winner, if we lost and the venue reports it. */
  winnerDelta?: number;
}

/** A steeper or flatter fit is noise. */
const LEAST_BETA = 0.05;
const MOST_BETA = 2;
/** Prior: standard deviation of alpha, and of beta as a share of itself. */
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
 * Updates the fit with one outcome. `kept` below 1 discounts old outcomes, down to the weight of the prior.
 *
 * A win says that the best alternative R was above delta, a loss that it was below. With the price of the
 * winner R itself is observed; R is logistic with density beta * f * (1 - f).
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

interface CurveTrust {
  /** Outcomes needed before the fit is used, a twentieth of them of either kind. */
  minOutcomes: number;
  /** Largest shift of the spread with a win rate of one half, from the configured curve. */
  maxShiftBps: number;
}

/**
 * The curve to price with; undefined while there are too few outcomes. Bounded around the configuration,
 * because a taker can push the fit for free by requesting quotes and accepting none.
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

/** Size classes in the reference currency: below 1,000, 10,000, 100,000, and above. */
export const SIZE_BUCKETS = [1_000, 10_000, 100_000] as const;
export const sizeBucket = (size: number): number => {
  let bucket = 0;
  for (const bound of SIZE_BUCKETS) if (size >= bound) bucket += 1;
  return bucket;
};

/**
 * Noise of ±`bps` for a share of quotes. Deterministic per key, so that records can be checked and repeating
 * a request gains nothing.
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
