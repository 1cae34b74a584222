/** Reports when the event loop was blocked for so long that database leases may have lapsed. */

export interface LoopWatch {
  reasons(): string[];
}

const CHECK_EVERY_MS = 250;
/** Database leases last six seconds. */
const MAX_DELAY_MS = 4_000;
const RECOVERY_MS = 10_000;

export function watchLoop(nowMs: () => number = () => performance.now()): LoopWatch & { check(): void } {
  let lastCheckMs = nowMs();
  let lastStall: { delayMs: number; endedMs: number } | undefined;
  function check(): void {
    const now = nowMs();
    const delayMs = now - lastCheckMs - CHECK_EVERY_MS;
    if (delayMs >= MAX_DELAY_MS) lastStall = { delayMs, endedMs: now };
    lastCheckMs = now;
  }
  setInterval(check, CHECK_EVERY_MS).unref();
  return {
    check,
    reasons: () =>
      lastStall && nowMs() - lastStall.endedMs < RECOVERY_MS
        ? [`the process stood still for ${(lastStall.delayMs / 1_000).toFixed(1)} s and is catching up`]
        : [],
  };
}
