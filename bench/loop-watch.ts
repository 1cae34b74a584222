/** For how long this process's event loop stood still at most, and how much of that was waiting for a core that other threads had: on a machine with fewer cores than busy threads the two differ much. */

import { openSync, readSync } from 'node:fs';

export interface LoopWatch {
  /** Since it was asked last. `ownMaxMs`: the most that one turn took while this thread had a core, counting its collections; undefined where the system does not say. */
  longest(): { lateMaxMs: number; ownMaxMs: number | undefined };
}

const EVERY_MS = 1;

/** For as long as the process lives. */
export function watchLoop(): LoopWatch {
  const waitedMs = runQueueWait();
  let lastMs = performance.now();
  let lastWaitedMs = waitedMs?.() ?? 0;
  let [lateMaxMs, ownMaxMs] = [0, 0];
  const look = () => {
    const nowMs = performance.now();
    const waited = waitedMs?.() ?? 0;
    const lateMs = nowMs - lastMs - EVERY_MS;
    lateMaxMs = Math.max(lateMaxMs, lateMs);
    ownMaxMs = Math.max(ownMaxMs, lateMs - (waited - lastWaitedMs));
    [lastMs, lastWaitedMs] = [nowMs, waited];
  };
  // From one whole turn to another: of timers alone several may be run before anything that came in is.
  const timer = setInterval(() => setImmediate(look), EVERY_MS);
  timer.unref();
  return {
    longest() {
      const answer = { lateMaxMs, ownMaxMs: waitedMs === undefined ? undefined : ownMaxMs };
      [lateMaxMs, ownMaxMs] = [0, 0];
      return answer;
    },
  };
}

/** Milliseconds for which the calling thread was ready to run and had no core: Linux, second word of its `schedstat`, nanoseconds there. */
function runQueueWait(): (() => number) | undefined {
  let file: number;
  try {
    file = openSync('/proc/thread-self/schedstat', 'r');
  } catch {
    return undefined;
  }
  const bytes = Buffer.alloc(96);
  return () => Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0)).split(' ', 2)[1]) / 1e6;
}
