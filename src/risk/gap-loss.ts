/** Loss on live quotes if the mid jumps, for the limit on the worst case. */

export interface GapRule {
  /** A jump is this many standard deviations over the longest life of a quote, and at least `leastBps`. */
  deviations: number;
  leastBps: number;
}

/** Returns the jump J in bps. `longestBps`: one standard deviation of the mid over the longest tenor. */
export function jumpOf(longestBps: number, { deviations, leastBps }: GapRule): number {
  return Math.max(deviations * longestBps, leastBps);
}

const SCALE = 10_000;

/** Returns Q·max(0, J − D) in the unit of `notional`, rounded up. */
export function gapLoss(notional: bigint, spreadBps: number, jumpBps: number): bigint {
  const beyond = jumpBps - spreadBps;
  if (!(beyond > 0)) return 0n;
  const part = BigInt(Math.ceil(beyond * SCALE));
  const whole = BigInt(SCALE) * BigInt(SCALE);
  return (notional * part + whole - 1n) / whole;
}
