/**
 * When the whole machine stood still: a virtual one is not run for some milliseconds now and then, and no program on it can tell that from
 * its own work. On each core a loop that does nothing is watched; the machine stood still where all of them did.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { cpus } from 'node:os';
import { extname, resolve } from 'node:path';
import type { Turn } from './loop-watch.ts';

/** From when to when, on the system's monotonic clock, and how much of it was nobody's waiting for a core. */
export interface Stall {
  fromMs: number;
  toMs: number;
  ms: number;
}

export interface MachineWatch {
  /** Since asked last; undefined where a process cannot be kept on one core. */
  stalls(): Promise<Stall[] | undefined>;
  stop(): void;
}

const MOST_CORES = 8;

export function watchMachine(): MachineWatch {
  const loops = cpus().slice(0, MOST_CORES).map((_, core) => fork(resolve(import.meta.dirname, `idle-loop${extname(import.meta.filename)}`), [], { execPath: 'taskset', execArgv: ['-c', String(core), process.execPath, ...process.execArgv] }));
  let broken = false;
  for (const loop of loops) loop.on('error', () => (broken = true)).on('exit', () => (broken = true));

  const turnsOf = (loop: ChildProcess): Promise<Turn[]> =>
    new Promise((done) => {
      loop.once('message', (turns) => done(turns as Turn[]));
      loop.send('turns');
    });

  return {
    async stalls() {
      if (broken) return undefined;
      const [first = [], ...others] = await Promise.all(loops.map(turnsOf));
      return others.reduce(common, first.map(stallOf));
    },
    stop() {
      for (const loop of loops) loop.kill('SIGKILL');
    },
  };
}

const stallOf = ({ endMs, lateMs, ownMs }: Turn): Stall => ({ fromMs: endMs - lateMs, toMs: endMs, ms: ownMs });

/** What of them stood still on this core too. */
function common(stalls: readonly Stall[], turns: readonly Turn[]): Stall[] {
  return stalls.flatMap((stall) => turns.map((turn) => overlap(stall, stallOf(turn))).filter(({ ms }) => ms > 0));
}

function overlap(one: Stall, other: Stall): Stall {
  const [fromMs, toMs] = [Math.max(one.fromMs, other.fromMs), Math.min(one.toMs, other.toMs)];
  return { fromMs, toMs, ms: Math.max(0, Math.min(one.ms, other.ms, toMs - fromMs)) };
}

/** What a turn took without the machine's standing still. */
export function withoutStalls(turn: Turn, stalls: readonly Stall[]): number {
  return stalls.reduce((ms, stall) => ms - overlap(stall, { ...stallOf(turn), ms: turn.lateMs }).ms, turn.ownMs);
}
