/** Counts frames, because each costs work however small it is. */

/** Limits control frames, because each ping costs an answer. */
export const MAX_CONTROL_FRAMES_PER_SECOND = 50;

/** Returns how often it was called in the current second. */
export function perSecond(nowMs: () => number): () => number {
  let [second, count] = [0, 0];
  return () => {
    const now = Math.floor(nowMs() / 1_000);
    if (now !== second) [second, count] = [now, 0];
    return (count += 1);
  };
}
