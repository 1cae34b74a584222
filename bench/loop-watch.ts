/** For how long this process's event loop stood still at most, and how much of that was waiting for a core that other threads had: on a machine with fewer cores than busy threads the two differ much. */

import { closeSync, openSync, readSync } from 'node:fs';

export interface LoopWatch {
  /** Since it was asked last. `ownMaxMs`: the most that one turn took while this thread had a core, counting its collections; undefined where the system does not say. */
  longest(): { lateMaxMs: number; ownMaxMs: number | undefined };
  stop(): void;
}

const EVERY_MS = 1;

export function watchLoop(): LoopWatch {
  const waits = runQueueWaits();
  let lastMs = performance.now();
  let lastWaitedMs = waits?.waitedMs() ?? 0;
  let [lateMaxMs, ownMaxMs] = [0, 0];
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const waitedMs = waits?.waitedMs() ?? 0;
    const lateMs = nowMs - lastMs - EVERY_MS;
    lateMaxMs = Math.max(lateMaxMs, lateMs);
    ownMaxMs = Math.max(ownMaxMs, lateMs - (waitedMs - lastWaitedMs));
    [lastMs, lastWaitedMs] = [nowMs, waitedMs];
  }, EVERY_MS);
  timer.unref();
  return {
    longest() {
      const answer = { lateMaxMs, ownMaxMs: waits === undefined ? undefined : ownMaxMs };
      [lateMaxMs, ownMaxMs] = [0, 0];
      return answer;
    },
    stop() {
      clearInterval(timer);
      waits?.close();
    },
  };
}

/** Linux, `schedstat` of the calling thread: time on a core, time ready to run without one, both in nanoseconds. */
function runQueueWaits(): { waitedMs(): number; close(): void } | undefined {
  let file: number;
  try {
    file = openSync('/proc/thread-self/schedstat', 'r');
  } catch {
    return undefined;
  }
  const bytes = Buffer.alloc(96);
  return {
    waitedMs: () => Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0)).split(' ', 2)[1]) / 1e6,
    close: () => closeSync(file),
  };
}
