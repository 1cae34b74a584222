/** Across: capital fee and utilisation curve, checked against the vectors of its own tests. */

export interface CapitalFee {
  lower: number;
  upper: number;
  cutoff: number;
}

/** Mean fee on a transfer, as a share. */
export function capitalFee({ lower, upper, cutoff }: CapitalFee, size: number): number {
  const slope = (upper - lower) / cutoff;
  const kinked = Math.min(cutoff, size);
  return (lower * size + (slope * kinked * kinked) / 2 + (upper - lower) * Math.max(0, size - cutoff)) / size;
}

export interface RateModel {
  uBar: number;
  r0: number;
  r1: number;
  r2: number;
}

/** Computes the mean rate between two utilisations, per year and per week. */
export function lpRate(model: RateModel, from: number, to: number): { apy: number; weekly: number } {
  const apy = (area(model, to) - area(model, from)) / (to - from);
  return { apy, weekly: Math.expm1(Math.log1p(apy) / 52) };
}

function area({ uBar, r0, r1, r2 }: RateModel, u: number): number {
  const below = Math.min(u, uBar);
  const above = Math.max(0, u - uBar);
  return r0 * u + (r1 * below * below) / (2 * uBar) + r1 * above + (r2 * above * above) / (2 * (1 - uBar));
}
