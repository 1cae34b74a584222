/**
 * Has this process stood still? While its event loop is blocked, or all of it frozen, it answers nobody, its
 * leases lapse and others take over; it should not be asked for anything until it has shown that it keeps up
 * again.
 */

export interface LoopWatch {
  /** Why it had better be left alone; nothing when it keeps up. */
  reasons(): string[];
}

const EVERY_MS = 250;
/**
 * Leases in the database live for six seconds: whoever is away for nearly that long may have lost what it
 * held.
 */
const TOO_LONG_MS = 4_000;
/** Without another standstill for so long it counts as well. */
const CALM_MS = 10_000;

export function watchLoop(nowMs: () => number = () => performance.now()): LoopWatch & { look(): void } {
  let lastMs = nowMs();
  let worst: { lastedMs: number; endedMs: number } | undefined;
  function look(): void {
    const now = nowMs();
    const lastedMs = now - lastMs - EVERY_MS;
    if (lastedMs >= TOO_LONG_MS) worst = { lastedMs, endedMs: now };
    lastMs = now;
  }
  setInterval(look, EVERY_MS).unref();
  return {
    look,
    reasons: () =>
      worst && nowMs() - worst.endedMs < CALM_MS
        ? [`the process stood still for ${(worst.lastedMs / 1_000).toFixed(1)} s and is catching up`]
        : [],
  };
}
