/**
 * For how long this process's event loop stood still: how late a timer of one millisecond is, as everybody
 * measures it, but never twice in one turn of the loop: where several timers are due it may be called again
 * before anything that came in is. "Own" is without the time in which the thread was ready and other threads
 * had all cores: on a machine with fewer cores than busy threads the two differ much.
 */

import { openSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/** One turn. `endMs` is on the system's monotonic clock, which all processes share. */
export interface Turn {
  endMs: number;
  lateMs: number;
  /** In which the thread was ready and had no core; 0 where the system does not say. */
  waitedMs: number;
  /** On a core, as far as the system has counted, which it does each 4 ms or so. */
  ranMs: number;
  /** Where it ran when the turn ended; undefined where the system does not say. */
  core: number | undefined;
}

/** Collections counted. */
export const ownMs = ({ lateMs, waitedMs }: Turn): number => lateMs - waitedMs;

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
  const accountMs = threadAccount() ?? (() => [0, 0] as const);
  const core = threadCore();
  const maxima: { lateMaxMs: number; ownMaxMs: number }[] = [];
  let remembered: Turn[] = [];
  let lastMs = monotonicMs();
  let lastTurn = -1;
  let [lastRanMs, lastWaitedMs] = accountMs();
  const look = () => {
    const turn = performance.nodeTiming.uvMetricsInfo.loopCount;
    if (turn === lastTurn) return;
    const nowMs = monotonicMs();
    const [ran, waited] = accountMs();
    const lateMs = nowMs - lastMs - EVERY_MS;
    const waitedMs = waited - lastWaitedMs;
    for (const each of maxima) {
      each.lateMaxMs = Math.max(each.lateMaxMs, lateMs);
      each.ownMaxMs = Math.max(each.ownMaxMs, lateMs - waitedMs);
    }
    if (lateMs > LONG_MS)
      remembered.push({ endMs: nowMs, lateMs, waitedMs, ranMs: ran - lastRanMs, core: core() });
    [lastTurn, lastMs, lastRanMs, lastWaitedMs] = [turn, nowMs, ran, waited];
  };
  const timer = setInterval(look, EVERY_MS);
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

/**
 * For how many milliseconds the calling thread ran, and was ready to run and had no core: Linux, the first
 * two words of its `schedstat`, nanoseconds there.
 */
export function threadAccount(): (() => readonly [ranMs: number, waitedMs: number]) | undefined {
  const read = reader('/proc/thread-self/schedstat');
  return (
    read &&
    (() => {
      const [ran, waited] = read().split(' ', 2);
      return [Number(ran) / 1e6, Number(waited) / 1e6];
    })
  );
}

/**
 * The core that the calling thread runs on: Linux, the 39th word of its `stat`, the second of which may hold
 * anything in brackets.
 */
function threadCore(): () => number | undefined {
  const read = reader('/proc/thread-self/stat');
  return () => {
    const text = read?.();
    return text === undefined ? undefined : Number(text.slice(text.lastIndexOf(')') + 2).split(' ', 37)[36]);
  };
}

/** Of a file that the system writes anew at each reading; undefined where there is none. */
export function reader(path: string): (() => string) | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return undefined;
  }
  const bytes = Buffer.alloc(1_024);
  return () => bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0));
}
