/**
 * For how long this process's event loop stood still: every turn of it, from one whole turn to the next. "Own" is without the time in which
 * the thread was ready and other threads had all cores: on a machine with fewer cores than busy threads the two differ much.
 */

import { openSync, readSync } from 'node:fs';

/** One turn. `endMs` is on the system's monotonic clock, which all processes share. */
export interface Turn {
  endMs: number;
  lateMs: number;
  /** Counting its collections; `lateMs` where the system does not say. */
  ownMs: number;
}

export interface LoopWatch {
  /** Longest since it was asked last. */
  longest(): { lateMaxMs: number; ownMaxMs: number };
  /** Those longer than `LONG_MS` since asked last. */
  long(): Turn[];
  /** Another who asks for the longest, to whom others' questions are nothing. */
  another(): Pick<LoopWatch, 'longest'>;
}

/** A turn of more than this is remembered. */
export const LONG_MS = 2;
const EVERY_MS = 1;

export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** For as long as the process lives. */
export function watchLoop(): LoopWatch {
  const waitedMs = runQueueWait() ?? (() => 0);
  const maxima: { lateMaxMs: number; ownMaxMs: number }[] = [];
  let remembered: Turn[] = [];
  let lastMs = monotonicMs();
  let lastWaitedMs = waitedMs();
  const look = () => {
    const [nowMs, waited] = [monotonicMs(), waitedMs()];
    const lateMs = nowMs - lastMs - EVERY_MS;
    const ownMs = lateMs - (waited - lastWaitedMs);
    for (const each of maxima) {
      each.lateMaxMs = Math.max(each.lateMaxMs, lateMs);
      each.ownMaxMs = Math.max(each.ownMaxMs, ownMs);
    }
    if (lateMs > LONG_MS) remembered.push({ endMs: nowMs, lateMs, ownMs });
    [lastMs, lastWaitedMs] = [nowMs, waited];
  };
  // From one whole turn to another: of timers alone several may be run before anything that came in is.
  const timer = setInterval(() => setImmediate(look), EVERY_MS);
  timer.unref();

  function another(): Pick<LoopWatch, 'longest'> {
    const mine = { lateMaxMs: 0, ownMaxMs: 0 };
    maxima.push(mine);
    return {
      longest() {
        const answer = { ...mine };
        [mine.lateMaxMs, mine.ownMaxMs] = [0, 0];
        return answer;
      },
    };
  }

  return {
    ...another(),
    long() {
      const those = remembered;
      remembered = [];
      return those;
    },
    another,
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
