/** A clock that a test moves by hand: for waits that are longer than a test. */

import type { Clock } from '../../src/ports/clock.ts';

export interface ManualClock extends Clock {
  /** Runs what falls due, in its order. */
  advance(ms: number): void;
  /** Ms until each thing that is still to be done, soonest first. */
  pending(): number[];
}

export function createManualClock(startMs = 1_795_000_000_000): ManualClock {
  let nowMs = startMs;
  const timers = new Set<{ atMs: number; run: () => void }>();
  const soonest = () => [...timers].toSorted((a, b) => a.atMs - b.atMs);
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs - startMs,
    after(ms, run) {
      const timer = { atMs: nowMs + ms, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(ms) {
      const untilMs = nowMs + ms;
      for (let [next] = soonest(); next !== undefined && next.atMs <= untilMs; [next] = soonest()) {
        timers.delete(next);
        nowMs = Math.max(nowMs, next.atMs);
        next.run();
      }
      nowMs = untilMs;
    },
    pending: () => soonest().map(({ atMs }) => atMs - nowMs),
  };
}
