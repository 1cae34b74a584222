/**
 * Measures the CPU of this process and of all its children, by program: the load shares its cores with what a
 * bench measures. Linux only; empty elsewhere.
 */

import { readdirSync, readFileSync } from 'node:fs';

/** Kernel clock ticks are hundredths of a second wherever Linux runs. */
const TICK_MICROS = 10_000;

/** Microseconds so far. */
export type CpuUsed = ReadonlyMap<string, number>;

interface Sample {
  program: string;
  parent: number;
  micros: number;
}

/**
 * Sums CPU by program. `names` maps process ids to names; this process is the venue, other Node processes are
 * the load. A process that has ended is counted in the parent that waited for it.
 */
export function cpuUsed(names: ReadonlyMap<number, string> = new Map()): CpuUsed {
  const all = new Map<number, Sample>();
  for (const name of list()) {
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
      all.set(Number(name), {
        program: text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')).toLowerCase(),
        parent: Number(fields[1]),
        micros: ticks * TICK_MICROS,
      });
    } catch {
      // The process ended while it was read.
    }
  }
  const used = new Map<string, number>();
  for (const [id, { program, micros }] of all) {
    if (!isOurs(all, id) || program === 'sh') continue;
    const name =
      names.get(id) ??
      (id === process.pid ? 'venue' : /^(?:node|mainthread)/.test(program) ? 'load' : program);
    used.set(name, (used.get(name) ?? 0) + micros);
  }
  return used;
}

/** Computes what each program took between two samples, whole microseconds per unit of work. */
export function cpuPer(units: number, before: CpuUsed, after: CpuUsed): Record<string, number> {
  return Object.fromEntries(
    [...after].map(([name, micros]) => [
      name,
      Math.round((micros - (before.get(name) ?? 0)) / Math.max(1, units)),
    ]),
  );
}

/** Computes what the venue took between two samples, in microseconds. */
export const cpuOfVenue = (before: CpuUsed, after: CpuUsed): number =>
  (after.get('venue') ?? 0) - (before.get('venue') ?? 0);

export const showCpu = (cpu: Record<string, number>): string =>
  Object.entries(cpu)
    .map(([name, micros]) => `${name} ${micros}`)
    .join(', ');

function list(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function isOurs(all: ReadonlyMap<number, Sample>, id: number): boolean {
  for (let at = id; at > 1; at = all.get(at)?.parent ?? 0) if (at === process.pid) return true;
  return false;
}
