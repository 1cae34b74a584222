/**
 * When a core of the machine stood still: a virtual one is not run for some milliseconds now and then, by
 * itself or with the others, and no program on it can tell that from its own work; the system counts it as
 * the program's. So on each core somebody sleeps who comes before everything else there (`idle-loop.ts`):
 * what wakes it late stops every program on that core.
 */

import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { extname, resolve } from 'node:path';
import { ownMs, type Turn } from './loop-watch.ts';

/**
 * From when to when a core stood still, on the system's monotonic clock, and for how much of it nobody else
 * had it.
 */
export interface Stall {
  core: number;
  fromMs: number;
  toMs: number;
  ms: number;
}

export interface Span {
  fromMs: number;
  toMs: number;
}

/**
 * What was seen of the machine. `scans`: when the system went through all memory: it takes a core, stops
 * others, and takes pages from programs that fetch them again one by one.
 */
export interface Stillness {
  stalls: Stall[];
  scans: Span[];
}

export interface MachineWatch {
  /** Since asked last; undefined where a process cannot be kept on one core. */
  seen(): Promise<Stillness | undefined>;
  stop(): void;
}

/** Less is the system's own latency, and the noise of a reading. */
export const SHORTEST_STALL_MS = 0.5;
const MOST_CORES = 8;
/**
 * Under the real-time scheduler, where it may (root): a sleeper that waits for its core behind a program
 * would not see a standstill meanwhile.
 */
const FIRST = ['chrt', '--fifo', '50'];

export function watchMachine(): MachineWatch {
  const first = spawnSync(FIRST[0] as string, [...FIRST.slice(1), 'true']).status === 0 ? FIRST : [];
  const loops = cpus()
    .slice(0, MOST_CORES)
    .map((_, core) => {
      const [program, ...words] = [
        ...first,
        'taskset',
        '-c',
        String(core),
        process.execPath,
        ...process.execArgv,
      ] as [string, ...string[]];
      return fork(resolve(import.meta.dirname, `idle-loop${extname(import.meta.filename)}`), [String(core)], {
        execPath: program,
        execArgv: words,
      });
    });
  let broken = false;
  for (const loop of loops) loop.on('error', () => (broken = true)).on('exit', () => (broken = true));

  const seenBy = (loop: ChildProcess): Promise<Stillness> =>
    new Promise((done) => {
      loop.once('message', (seen) => done(seen as Stillness));
      loop.send('seen');
    });

  return {
    async seen() {
      if (broken) return undefined;
      const all = await Promise.all(loops.map(seenBy));
      return { stalls: all.flatMap(({ stalls }) => stalls), scans: all.flatMap(({ scans }) => scans) };
    },
    stop() {
      for (const loop of loops) loop.kill('SIGKILL');
    },
  };
}

/** For how long, during a turn, the core that it ended on stood still, or one of the others at most. */
export function stalledMs(turn: Turn, stalls: readonly Stall[], where: 'there' | 'elsewhere'): number {
  const byCore = new Map<number, number>();
  for (const { core, fromMs, toMs, ms } of stalls) {
    const overlap = Math.min(ms, Math.min(turn.endMs, toMs) - Math.max(turn.endMs - turn.lateMs, fromMs));
    if ((core === turn.core) === (where === 'there') && overlap > 0)
      byCore.set(core, (byCore.get(core) ?? 0) + overlap);
  }
  return Math.max(0, ...byCore.values());
}

/** Did the system go through memory during a turn? */
export function isScanned(turn: Turn, scans: readonly Span[]): boolean {
  return scans.some(({ fromMs, toMs }) => fromMs < turn.endMs && toMs > turn.endMs - turn.lateMs);
}

/**
 * What a turn took without waiting for a core, and without a core's standing still: that on which it ran, or,
 * while it slept, any: the one that was to wake it, or that a thread runs on which it waits for. What may
 * have fallen into its waiting is not counted twice.
 */
export function withoutStalls(turn: Turn, stalls: readonly Stall[]): number {
  const asleepMs = Math.max(0, turn.lateMs - turn.waitedMs - turn.ranMs);
  return (
    ownMs(turn) -
    Math.max(0, stalledMs(turn, stalls, 'there') - turn.waitedMs) -
    Math.min(asleepMs, stalledMs(turn, stalls, 'elsewhere'))
  );
}
