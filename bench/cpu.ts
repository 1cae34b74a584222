/** CPU of this process and of everything it started, by program: what a bench shares its cores with. Linux only; empty elsewhere. */

import { readdirSync, readFileSync } from 'node:fs';

/** Kernel clock ticks are hundredths of a second wherever Linux runs. */
const TICK_MS = 10;

interface Sample {
  program: string;
  parent: number;
  ms: number;
}

/** Milliseconds so far; what has ended meanwhile is counted where its parent waited for it. */
export function cpuByProgram(): Map<string, number> {
  const all = new Map<number, Sample>();
  for (const name of list()) {
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
      all.set(Number(name), { program: text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')), parent: Number(fields[1]), ms: ticks * TICK_MS });
    } catch {
      // It ended while it was looked at.
    }
  }
  const sums = new Map<string, number>();
  for (const [id, { program, ms }] of all) if (isOurs(all, id)) sums.set(program, (sums.get(program) ?? 0) + ms);
  return sums;
}

/** What each program took between two samples, milliseconds per unit of work. */
export function cpuPer(units: number, before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): Record<string, number> {
  const each = [...after].map(([program, ms]) => [program, Number(((ms - (before.get(program) ?? 0)) / units).toFixed(2))] as const);
  return Object.fromEntries(each.filter(([, ms]) => ms > 0));
}

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
