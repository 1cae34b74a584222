/**
 * How long a loop stands still: while some work is done, and, for a measure, where nothing is done but
 * reading the clock with another thread beside it, which nobody's event loop can better.
 */

import { Worker } from 'node:worker_threads';

/**
 * How long some work took, and the longest time between two turns of the loop meanwhile: for so long nobody
 * else was served.
 */
export async function stillFor(work: () => unknown): Promise<{ totalMs: number; longestMs: number }> {
  await new Promise((done) => setImmediate(done));
  const startedMs = performance.now();
  let [longestMs, lastMs, over] = [0, startedMs, false];
  const turn = () => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  const watch = () => {
    turn();
    if (!over) setImmediate(watch);
  };
  setImmediate(watch);
  await work();
  over = true;
  turn();
  return { totalMs: performance.now() - startedMs, longestMs };
}

/** Longest gap between two readings, ms, in so many seconds. */
function emptyLoop(seconds: number): number {
  const endsMs = performance.now() + seconds * 1_000;
  let longestMs = 0;
  for (let lastMs = performance.now(), nowMs = lastMs; nowMs < endsMs; lastMs = nowMs) {
    nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
  }
  return longestMs;
}

/** The same with two threads busy. */
export async function machineStallMs(seconds: number): Promise<number> {
  const other = new Worker('for (;;);', { eval: true });
  await new Promise<void>((done) => other.once('online', done));
  const longestMs = emptyLoop(seconds);
  await other.terminate();
  return longestMs;
}
