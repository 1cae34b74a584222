/** The cost terms of a quote, each in bps of mid, positive when it makes the price worse for the taker. */

import { YEAR_SECONDS } from './option.ts';

/** E[max of n standard normals]: the expected error of the best of n noisy mids. */
const LARGEST_OF = [0, 0, 0.5642, 0.8463, 1.0294, 1.163, 1.2672, 1.3522, 1.4236, 1.485, 1.5388];

/** Winner's curse: the expected error of the winner's mid. */
export function confidenceTerm(confidenceBps: number, rivals: number): number {
  const largest = LARGEST_OF[Math.min(Math.max(Math.trunc(rivals), 0), LARGEST_OF.length - 1)] ?? 0;
  return largest * confidenceBps;
}

/**
 * Slope of the quote in the position, bps per unit: Guéant, Lehalle and Fernandez-Tapia, general form for
 * order size `size` and risk term `xi` (xi = gamma, size 1: the 2013 paper; xi -> 0: e in place of the
 * power).
 */
export function skewSlope({
  gamma,
  sigma,
  arrival,
  decay,
  size = 1,
  xi = 0,
}: {
  gamma: number;
  sigma: number;
  arrival: number;
  decay: number;
  size?: number;
  xi?: number;
}): number {
  const step = (xi * size) / decay;
  const power = step === 0 ? Math.E : (1 + step) ** (1 / step + 1);
  return Math.sqrt(((gamma * sigma * sigma) / (2 * arrival * size * decay)) * power);
}

/** Skew at the mean position before and after the trade. q is clipped to the band. */
export function inventoryTerm({
  slopeAtBand,
  side,
  q,
  sizeInBands,
}: {
  slopeAtBand: number;
  side: 1 | -1;
  q: number;
  sizeInBands: number;
}): number {
  const clipped = Math.min(Math.max(q, -1), 1);
  return slopeAtBand * side * (clipped + (side * sizeInBands) / 2);
}

/** Square-root law. */
export function impactTerm({
  factor,
  sigma,
  size,
  dailyVolume,
}: {
  factor: number;
  sigma: number;
  size: number;
  dailyVolume: number;
}): number {
  return factor * ((sigma * 1e4) / Math.sqrt(365)) * Math.sqrt(size / dailyVolume);
}

export function capitalTerm(rate: number, lockSeconds: number): number {
  return ((rate * lockSeconds) / YEAR_SECONDS) * 1e4;
}

/** Position of one chain: (balance - target) / half-band, and the cost of a transfer to it. */
export interface ChainBand {
  q: number;
  costBps: number;
}

const RAMP_FROM = 0.2;
const REFILL_SHARE = 0.5;

/** Draining a short chain costs up to its transport; filling one earns back up to half of it. */
export function rebalanceTerm({
  drained,
  filled,
}: {
  drained?: ChainBand | undefined;
  filled?: ChainBand | undefined;
}): number {
  return shortage(drained) - REFILL_SHARE * shortage(filled);
}

function shortage(band: ChainBand | undefined): number {
  return band === undefined || band.q >= 0
    ? 0
    : band.costBps * Math.min(Math.max((-band.q - RAMP_FROM) / (1 - RAMP_FROM), 0), 1);
}

/**
 * Mean adverse selection of a taker, shrunk to its tier. Floored after averaging, because the positive part
 * of noise is not toxicity.
 */
export function adverseTerm({
  meanBps,
  trades,
  tierMeanBps,
  weight = 30,
  capBps = 25,
}: {
  meanBps: number;
  trades: number;
  tierMeanBps: number;
  weight?: number;
  capBps?: number;
}): number {
  const shrunk = (trades * meanBps + weight * tierMeanBps) / (trades + weight);
  return Math.min(Math.max(shrunk, 0), capBps);
}
