/** Pauses between attempts: each twice as long, with jitter, so that many clients do not return together. */

interface Backoff {
  firstMs: number;
  longestMs: number;
}

/** Returns the pause after `failures` failed attempts since the last good one (0 is the first), in ms. */
export const pauseMs = (failures: number, { firstMs, longestMs }: Backoff): number =>
  Math.min(longestMs, firstMs * 2 ** failures);

/** Shortens a pause by up to half. `random` is 0 to 1. */
export const jittered = (ms: number, random: number): number => ms * (0.5 + random / 2);
