/**
 * Memory, file descriptors, event loops and database connections of the processes over time, and whether they
 * stay bounded.
 */

import { readFileSync } from 'node:fs';
import type { Queryable } from '../../src/adapters/postgres/pool.ts';
import type { Part } from '../faults/support/process.ts';

interface Sample {
  atMs: number;
  rssMb: number;
  heapMb: number;
  fds: number;
  loopP99Ms: number;
  /** Share of the time since the last sample in which it was runnable and waited for a processor. */
  waited: number;
  /** No fault has affected it since the last sample. */
  untouched: boolean;
}

interface Life {
  name: string;
  pid: number;
  samples: Sample[];
  /** Nanoseconds that it has waited for a processor. */
  waitedNs: number;
  seenMs: number;
}

export interface Vitals {
  /** `victims` since the last sample; `calm`: no fault was active for a while. */
  look(victims: ReadonlySet<string>, calm: boolean): Promise<void>;
  /** One line about the last sample, for people. */
  line(): string;
  judge(): { problems: string[]; notJudged: string[]; figures: Record<string, unknown> };
}

const LOOP_GATE_MS = 50;
/** Above this share of waiting, a late event loop is the machine's fault. */
const BUSY = 0.05;
const WARM_UP_MS = 60_000;
const START_MS = 20_000;
const RSS_GATE_MB_PER_10_MIN = 1;
/**
 * Garbage collection moves RSS by tens of megabytes, so shorter runs cannot show a slope of 1 MB in 10
 * minutes.
 */
const RSS_JUDGED_MS = 3_600_000;
const RSS_MOST_MB = 512;
/** Connections of takers vary. */
const FD_SLACK = 40;
const CONNECTION_SLACK = 8;

/** `doors`: the port at which each part serves takers, whose number of connections it does not control. */
export function watchVitals(
  parts: readonly Part[],
  database: Queryable,
  doors: ReadonlyMap<string, number>,
): Vitals {
  const lives: Life[] = [];
  const connections: { atMs: number; n: number }[] = [];
  const startedMs = performance.now();
  let last = '';

  async function lookAt(part: Part, untouched: boolean): Promise<void> {
    if (!part.running()) return;
    const pid = part.pid();
    let life = lives.findLast(({ name }) => name === part.name);
    if (life?.pid !== pid) {
      life = { name: part.name, pid, samples: [], waitedNs: 0, seenMs: performance.now() };
      lives.push(life);
    }
    const text = await fetch(`${part.opsUrl}/metrics`, { signal: AbortSignal.timeout(3_000) }).then(
      (answer) => answer.text(),
      () => undefined,
    );
    if (text === undefined) return;
    const gauge = (name: string) =>
      Number(new RegExp(`^${name.replaceAll(/[{}]/g, '\\$&')} (.+)$`, 'm').exec(text)?.[1] ?? 0);
    const [nowMs, waitedNs] = [performance.now(), waitedOf(pid)];
    const first = life.samples.length === 0;
    life.samples.push({
      atMs: nowMs,
      rssMb: gauge('firmquote_process_resident_memory_bytes') / 2 ** 20,
      heapMb: gauge('firmquote_process_heap_used_bytes') / 2 ** 20,
      fds: gauge('firmquote_process_open_fds') - connectionsAt(doors.get(part.name)),
      loopP99Ms: gauge('firmquote_process_event_loop_lag_seconds{percentile="p99"}') * 1_000,
      waited: (waitedNs - life.waitedNs) / 1e6 / (nowMs - life.seenMs),
      untouched: untouched && !first,
    });
    [life.waitedNs, life.seenMs] = [waitedNs, nowMs];
  }

  const lastOf = (name: string) => lives.findLast((life) => life.name === name)?.samples.at(-1);

  return {
    async look(victims, calm) {
      await Promise.all(parts.map((part) => lookAt(part, !victims.has(part.name))));
      const [row] = await database
        .query<{ n: number }>(
          `select count(*) as n from pg_stat_activity where backend_type = 'client backend'`,
        )
        .catch(() => []);
      if (row && calm) connections.push({ atMs: performance.now(), n: row.n });
      last = [
        ...parts.map(({ name }) => {
          const sample = lastOf(name);
          return `${name} ${sample ? `${sample.rssMb.toFixed(0)} MB ${sample.fds} fds ${sample.loopP99Ms.toFixed(0)} ms` : 'unseen'}`;
        }),
        `database ${row?.n ?? '?'} connections`,
      ].join(' · ');
    },
    line: () => last,
    judge() {
      const problems: string[] = [];
      const notJudged: string[] = [];
      const memory: Record<
        string,
        { minutes: number; maxMb: number; slopeMbPer10Min: number; plusMinus: number | null }
      > = {};
      const loops: Record<
        string,
        { samples: number; judged: number; worstMs: number; worstUnjudgedMs: number }
      > = {};
      for (const { name } of parts) {
        const own = lives.filter((life) => life.name === name);
        const longest =
          own
            .map(({ samples }) => samples.filter(({ atMs }) => atMs - (samples[0]?.atMs ?? 0) > WARM_UP_MS))
            .sort((a, b) => span(b) - span(a))[0] ?? [];
        const { slope, error } = trend(longest);
        const minutes = span(longest) / 60_000;
        const maxMb = Math.max(0, ...own.flatMap(({ samples }) => samples.map(({ rssMb }) => rssMb)));
        memory[name] = {
          minutes: round(minutes),
          maxMb: round(maxMb),
          slopeMbPer10Min: round(slope),
          plusMinus: Number.isFinite(error) ? round(error) : null,
        };
        if (maxMb > RSS_MOST_MB) problems.push(`memory: ${name} had ${maxMb.toFixed(0)} MB`);
        if (span(longest) < RSS_JUDGED_MS)
          notJudged.push(
            `memory slope of ${name}: its longest life after warm-up was ${minutes.toFixed(1)} minutes, and a slope of ${RSS_GATE_MB_PER_10_MIN} MB in 10 minutes shows from ${RSS_JUDGED_MS / 60_000} minutes on`,
          );
        else if (slope - error > RSS_GATE_MB_PER_10_MIN)
          problems.push(`memory: ${name} grew by ${slope.toFixed(2)} ± ${error.toFixed(2)} MB in 10 minutes`);

        const samples = own.flatMap(({ samples: all }) =>
          all.filter(({ atMs, untouched }) => untouched && atMs - (all[0]?.atMs ?? 0) > START_MS),
        );
        const judged = samples.filter(({ waited }) => waited < BUSY);
        const worst = (of: readonly Sample[]) => Math.max(0, ...of.map(({ loopP99Ms }) => loopP99Ms));
        loops[name] = {
          samples: samples.length,
          judged: judged.length,
          worstMs: round(worst(judged)),
          worstUnjudgedMs: round(worst(samples)),
        };
        if (judged.length === 0)
          notJudged.push(
            `event loop of ${name}: in all of ${samples.length} samples the machine had no processor for it for more than ${BUSY * 100} % of the time`,
          );
        const late = judged.filter(({ loopP99Ms }) => loopP99Ms >= LOOP_GATE_MS);
        if (late.length > 0)
          problems.push(
            `event loop: p99 of ${name} was ${worst(late).toFixed(0)} ms, and ${LOOP_GATE_MS} ms or more in ${late.length} of ${judged.length} samples`,
          );

        for (const { samples: all } of own) {
          const calm = all.filter(
            ({ atMs, untouched }) => untouched && atMs - (all[0]?.atMs ?? 0) > START_MS,
          );
          const [before, after] = [median(calm.slice(0, 3)), median(calm.slice(-3))];
          if (calm.length >= 6 && after > before + FD_SLACK)
            problems.push(`file descriptors: ${name} had ${before} and later ${after}`);
        }
      }
      const warm = connections.filter(({ atMs }) => atMs - startedMs > WARM_UP_MS);
      const third = Math.ceil(warm.length / 3);
      const most = (of: readonly { n: number }[]) => Math.max(0, ...of.map(({ n }) => n));
      const [before, after] = [most(warm.slice(0, third)), most(warm.slice(-third))];
      if (warm.length < 3) notJudged.push(`database connections: ${warm.length} calm looks after warm-up`);
      else if (after > before + CONNECTION_SLACK)
        problems.push(`database connections: at most ${before} at first and ${after} at the end`);
      return {
        problems,
        notJudged,
        figures: { memory, eventLoops: loops, databaseConnections: { first: before, last: after } },
      };
    },
  };
}

/** Nanoseconds in which it could have run and had no processor. */
export const waitedOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]);
/** Open connections accepted at this port of 127.0.0.1. */
function connectionsAt(port: number | undefined): number {
  if (port === undefined) return 0;
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const [listening, nobody] = ['0A', '0'];
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((words) => words[1]?.endsWith(local) && words[3] !== listening && words[9] !== nobody).length;
}
const span = (samples: readonly Sample[]): number => (samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0);
const round = (value: number): number => Math.round(value * 10) / 10;
function median(samples: readonly Sample[]): number {
  const sorted = samples.map(({ fds }) => fds).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Least squares: megabytes in ten minutes, and twice its standard error. */
function trend(samples: readonly Sample[]): { slope: number; error: number } {
  const n = samples.length;
  if (n < 3) return { slope: 0, error: Number.POSITIVE_INFINITY };
  const [xs, ys] = [samples.map(({ atMs }) => atMs / 600_000), samples.map(({ rssMb }) => rssMb)];
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / n;
  const [mx, my] = [mean(xs), mean(ys)];
  const spread = xs.reduce((sum, x) => sum + (x - mx) ** 2, 0);
  const slope = xs.reduce((sum, x, index) => sum + (x - mx) * ((ys[index] as number) - my), 0) / spread;
  const rest = xs.reduce((sum, x, index) => sum + ((ys[index] as number) - my - slope * (x - mx)) ** 2, 0);
  return { slope, error: 2 * Math.sqrt(rest / (n - 2) / spread) };
}
