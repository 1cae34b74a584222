/**
 * What one jump of the mid would take from us on the quotes that are out: the budget that bounds the worst
 * second.
 */

export interface GapRule {
  /** A jump is this many standard deviations over the longest life of a quote … */
  deviations: number;
  /** … and never less than this. */
  leastBps: number;
}

/**
 * J, in bps. `longestBps` is one standard deviation of the mid over the longest life that a quote may have.
 */
export function jumpOf(longestBps: number, { deviations, leastBps }: GapRule): number {
  return Math.max(deviations * longestBps, leastBps);
}

const SCALE = 10_000;

/** Q·max(0, J − D), in the unit of `notional`, rounded up: nothing when the spread covers the jump. */
export function gapLoss(notional: bigint, spreadBps: number, jumpBps: number): bigint {
  const beyond = jumpBps - spreadBps;
  if (!(beyond > 0)) return 0n;
  const part = BigInt(Math.ceil(beyond * SCALE));
  const whole = BigInt(SCALE) * BigInt(SCALE);
  return (notional * part + whole - 1n) / whole;
}
