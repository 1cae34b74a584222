/**
 * Raises the rate of an open loop until answers fall behind, so that a bench shows what a process can serve
 * and how it behaves below and above that.
 */

import { rounded } from './load.ts';

/** Answers fall behind when less than this share of what is offered is answered. */
const KEEPS_UP = 0.95;
const STEP = 1.25;
const MOST_STEPS = 12;
/** Shares of the capacity, in percent, at which latency and what is served are shown. */
const SHARES = [50, 80, 150, 300] as const;
/** Gates beyond capacity. */
const LEAST_SERVED_PERCENT = 90;
const MOST_TIMES_P99 = 8;
const MOST_REFUSAL_PERCENT = 5;

/** What a bench measured at one rate. */
export interface RateFigures {
  /** Per second. */
  offered: number;
  /** Served, per second. */
  perSecond: number;
  /** Latency of what was served. */
  p50Ms: number;
  p99Ms: number;
  /** Latency of refusals. */
  refusalP99Ms: number;
  served: number;
  refused: number;
  /** CPU of the process under test, for all requests of this rate together. */
  cpuMicros: number;
}

/** `percent`: the share of the capacity that was offered; null where the rate was no such share. */
export type KneeRow<T> = T & { percent: number | null };

export interface Knee<T> {
  /** The highest rate that was served, per second, while the rate rose. */
  capacity: number;
  rows: KneeRow<T>[];
}

/** What a reader of the closing line looks for. Absent where the rates were given. */
export interface KneeSummary {
  capacity: number;
  at50?: { p50Ms: number; p99Ms: number };
  at80?: { p50Ms: number; p99Ms: number; cpuMicrosPerServed: number };
  at150?: BeyondCapacity;
  at300?: BeyondCapacity;
  /**
   * The CPU at 300 % less that of what was served there, for each refusal: by what one served request took
   * at 80 %, and at most, by the least that one took at any rate. A busy process takes less for each, so the
   * first may be 0. null without refusals.
   */
  cpuMicrosPerRefusal?: number | null;
  mostCpuMicrosPerRefusal?: number | null;
}

interface BeyondCapacity {
  perSecond: number;
  /** The share of the capacity, which is the best rate on the way to the knee, that is still served. */
  servedPercent: number;
  p99Ms: number;
  /** p99 relative to its value at the lowest rate before the knee. */
  timesP99: number;
  refusalP99Ms: number;
}

/**
 * Measures at `first`, then at rates that grow by a quarter until answers fall behind twice, then at shares
 * of the capacity. With `--rates=800,1200` among the arguments, exactly these rates are measured.
 *
 * @param measure offers so many requests per second
 * @throws Error for `--rates` that are not positive numbers
 */
export async function toTheKnee<T extends RateFigures>(
  first: number,
  measure: (rate: number) => Promise<T>,
): Promise<Knee<T>> {
  const rows: KneeRow<T>[] = [];
  const add = async (rate: number, percent: number | null = null) => {
    const figures = await measure(rate);
    rows.push({ ...figures, percent });
    console.error(`${rate}/s offered: ${figures.perSecond}/s served`);
    return figures.perSecond >= KEEPS_UP * rate;
  };
  const given = givenRates();
  if (given !== undefined) {
    for (const rate of given) await add(rate);
    return { capacity: bestRate(rows), rows };
  }
  let rate = first;
  // Twice, because a shared machine that stalls for a moment is no knee.
  for (let step = 0; step < MOST_STEPS && ((await add(rate)) || (await add(rate))); step += 1)
    rate = Math.round(rate * STEP);
  const capacity = bestRate(rows);
  for (const percent of SHARES) await add(Math.round((capacity * percent) / 100), percent);
  return { capacity, rows };
}

/**
 * Reads `--rates=` from the command line; undefined without it.
 *
 * @throws Error for rates that are not positive numbers
 */
export function givenRates(): number[] | undefined {
  const given = process.argv.find((word) => word.startsWith('--rates='))?.slice('--rates='.length);
  const rates = given?.split(',').map(Number);
  if (rates?.some((rate) => !(rate > 0))) throw new Error('--rates is a list such as 800,1200.');
  return rates;
}

/** Shows a row's rate, and which share of the capacity it is. */
export const showOffered = ({ offered, percent }: { offered: number; percent: number | null }): string =>
  percent === null ? `${offered}/s` : `${offered}/s, ${percent} %`;

export function summaryOf({ capacity, rows }: Knee<RateFigures>): KneeSummary {
  const [at50, at80, at150, at300] = SHARES.map((percent) => rows.find((row) => row.percent === percent));
  if (!at50 || !at80 || !at150 || !at300) return { capacity };
  const beyond = ({ perSecond, p99Ms, refusalP99Ms }: RateFigures): BeyondCapacity => ({
    perSecond,
    servedPercent: Math.round((100 * perSecond) / capacity),
    p99Ms,
    timesP99: rounded(p99Ms / (rows[0]?.p99Ms ?? Number.NaN)),
    refusalP99Ms,
  });
  const perServed = ({ cpuMicros, served }: RateFigures) => cpuMicros / Math.max(1, served);
  const perRefusal = (each: number) =>
    at300.refused === 0
      ? null
      : Math.round(Math.max(0, at300.cpuMicros - at300.served * each) / at300.refused);
  return {
    capacity,
    at50: { p50Ms: at50.p50Ms, p99Ms: at50.p99Ms },
    at80: { p50Ms: at80.p50Ms, p99Ms: at80.p99Ms, cpuMicrosPerServed: Math.round(perServed(at80)) },
    at150: beyond(at150),
    at300: beyond(at300),
    cpuMicrosPerRefusal: perRefusal(perServed(at80)),
    mostCpuMicrosPerRefusal: perRefusal(Math.min(...rows.map(perServed))),
  };
}

/**
 * Prints the summary in words, with the gates beyond capacity.
 *
 * @param refuses false for work that is durable and waits: its latency grows as long as too much comes
 */
export function showSummary(knee: Knee<RateFigures>, { refuses }: { refuses: boolean }): string {
  const { capacity, at50, at80, at150, at300, cpuMicrosPerRefusal, mostCpuMicrosPerRefusal } =
    summaryOf(knee);
  const lines = [`capacity: ${capacity} a second`];
  if (at50 && at80)
    lines.push(
      `at 50 % of it: p50 ${at50.p50Ms} ms, p99 ${at50.p99Ms} ms`,
      `at 80 % of it: p50 ${at80.p50Ms} ms, p99 ${at80.p99Ms} ms, CPU ${at80.cpuMicrosPerServed} us each`,
    );
  for (const [percent, row] of [
    [150, at150],
    [300, at300],
  ] as const)
    if (row)
      lines.push(
        `at ${percent} % of it: ${row.perSecond}/s served, ${row.servedPercent} % of the capacity (${gate(row.servedPercent >= LEAST_SERVED_PERCENT, `>= ${LEAST_SERVED_PERCENT}`)}), p99 ${row.p99Ms} ms` +
          (refuses
            ? `, ${row.timesP99} times that of ${knee.rows[0]?.offered}/s (${gate(row.timesP99 <= MOST_TIMES_P99, `<= ${MOST_TIMES_P99}`)}), refusals p99 ${row.refusalP99Ms} ms (${gate(row.refusalP99Ms <= row.p99Ms, '<= what is served')})`
            : ''),
      );
  if (at80 && typeof cpuMicrosPerRefusal === 'number') {
    const percent = rounded((100 * cpuMicrosPerRefusal) / at80.cpuMicrosPerServed);
    lines.push(
      `CPU of a refusal at 300 %: ${cpuMicrosPerRefusal} us (at most ${mostCpuMicrosPerRefusal}), ${percent} % of one that is served (${gate(percent <= MOST_REFUSAL_PERCENT, `<= ${MOST_REFUSAL_PERCENT}`)})`,
    );
  }
  return lines.join('\n');
}

const gate = (met: boolean, limit: string): string => `${limit}: ${met ? 'met' : 'MISSED'}`;

const bestRate = (rows: readonly RateFigures[]): number =>
  Math.max(...rows.map(({ perSecond }) => perSecond));
