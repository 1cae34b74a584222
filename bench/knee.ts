/**
 * Raises the rate of an open loop until answers fall behind, so that a bench shows what a process can serve
 * and how it behaves below and above that.
 */

import type { LoadFigures } from './load.ts';

/** Answers fall behind when less than this share of what is offered is answered. */
const KEEPS_UP = 0.95;
const STEP = 1.25;
const MOST_STEPS = 12;
/** Shares of the capacity at which latency and what is served are shown. */
const SHARES = [0.5, 0.8, 1.5, 3] as const;

export interface Knee<T> {
  /** The highest rate that was answered, per second, whatever was offered. */
  capacity: number;
  rows: T[];
}

/**
 * Measures at `first`, then at rates that grow by a quarter until answers fall behind, then at shares of the
 * capacity. With `--rates=800,1200` among the arguments, exactly these rates are measured.
 *
 * @param measure offers so many requests per second
 * @throws Error for `--rates` that are not positive numbers
 */
export async function toTheKnee<T extends LoadFigures>(
  first: number,
  measure: (rate: number) => Promise<T>,
): Promise<Knee<T>> {
  const given = process.argv.find((word) => word.startsWith('--rates='))?.slice('--rates='.length);
  const rows: T[] = [];
  const add = async (rate: number) => {
    const figures = await measure(rate);
    rows.push(figures);
    console.error(`${rate}/s offered: ${figures.perSecond}/s answered`);
    return figures.perSecond >= KEEPS_UP * rate;
  };
  const capacity = () => Math.max(...rows.map(({ perSecond }) => perSecond));
  if (given !== undefined) {
    const rates = given.split(',').map(Number);
    if (rates.some((rate) => !(rate > 0))) throw new Error('--rates is a list such as 800,1200.');
    for (const rate of rates) await add(rate);
    return { capacity: capacity(), rows };
  }
  let rate = first;
  for (let step = 0; step < MOST_STEPS && (await add(rate)); step += 1) rate = Math.round(rate * STEP);
  const found = capacity();
  for (const share of SHARES) await add(Math.round(found * share));
  return { capacity: found, rows };
}
