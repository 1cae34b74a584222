/** What the machine takes from anybody: how long a loop stands still that does nothing but read the clock, with another one beside it. Nobody's event loop can promise less. */

import { Worker } from 'node:worker_threads';

/** Longest gap between two readings, ms, in so many seconds with two threads busy. */
export async function machineStallMs(seconds: number): Promise<number> {
  const other = new Worker('for (;;);', { eval: true });
  await new Promise<void>((done) => other.once('online', done));
  const endsMs = performance.now() + seconds * 1_000;
  let longestMs = 0;
  for (let lastMs = performance.now(), nowMs = lastMs; nowMs < endsMs; lastMs = nowMs) {
    nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
  }
  await other.terminate();
  return longestMs;
}
