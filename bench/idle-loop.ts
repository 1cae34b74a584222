/**
 * A process that does nothing but sleep for half a millisecond at a time on one core, before everything else
 * there where it may: when it wakes late, that core was not run. The first core's also sees when the system
 * goes through all memory. Answers every message with when that was; see `machine-watch.ts`.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { monotonicMs, reader, threadAccount } from './loop-watch.ts';
import { SHORTEST_STALL_MS, type Span, type Stall, type Stillness } from './machine-watch.ts';

const SLEEP_MS = 0.5;
/** Then it hears its parent. */
const SLEEPS = 20;
/**
 * Threads of Linux that look which pages are used, take them away, move or merge them: while one does, every
 * page that it touched costs a program a fault.
 */
const SCANNERS = /^(?:kdamond|kswapd|kcompactd|khugepaged|ksmd)/;
/** Between two of its moments it lets others run: so long a pause is none. */
const PAUSE_MS = 4;

const core = Number(process.argv[2]);
const accountMs = threadAccount() ?? (() => [0, 0] as const);
const nothing = new Int32Array(new SharedArrayBuffer(4));
const scanners = core === 0 ? scannersHere() : [];
let stalls: Stall[] = [];
let scans: Span[] = [];
process.on('message', () => {
  process.send?.({ stalls, scans } satisfies Stillness);
  [stalls, scans] = [[], []];
});

let [, lastWaitedMs] = accountMs();
let lastRan = ranSoFar();
for (;;) {
  for (let left = SLEEPS; left > 0; left -= 1) {
    const fromMs = monotonicMs();
    const dueMs = fromMs + SLEEP_MS;
    Atomics.wait(nothing, 0, 0, SLEEP_MS);
    const toMs = monotonicMs();
    const [, waitedMs] = accountMs();
    const ms = toMs - dueMs - (waitedMs - lastWaitedMs);
    lastWaitedMs = waitedMs;
    if (ms > SHORTEST_STALL_MS) stalls.push({ core, fromMs: dueMs, toMs, ms });
    const ran = ranSoFar();
    if (ran !== lastRan) scanned(fromMs, toMs);
    lastRan = ran;
  }
  await turn();
}

function scanned(fromMs: number, toMs: number): void {
  const last = scans.at(-1);
  if (last !== undefined && fromMs - last.toMs < PAUSE_MS) last.toMs = toMs;
  else scans.push({ fromMs, toMs });
}

function ranSoFar(): string {
  return scanners.map((read) => read().split(' ', 1)[0]).join(' ');
}

/** Threads of the system are children of its second process. */
function scannersHere(): (() => string)[] {
  try {
    return readdirSync('/proc')
      .filter((id) => /^\d+$/.test(id) && isScanner(id))
      .flatMap((id) => reader(`/proc/${id}/schedstat`) ?? []);
  } catch {
    return [];
  }
}

function isScanner(id: string): boolean {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'utf8');
    return (
      SCANNERS.test(text.slice(text.indexOf('(') + 1)) &&
      text.slice(text.lastIndexOf(')') + 2).split(' ', 2)[1] === '2'
    );
  } catch {
    return false;
  }
}
