/**
 * Provides a log and metrics for tests that read neither. `FIRMQUOTE_TEST_LOG=1` shows warnings and worse.
 */

import type { Log } from '../../src/ports/log.ts';
import type { Metrics } from '../../src/ports/metrics.ts';

const say = process.env.FIRMQUOTE_TEST_LOG
  ? (facts: object, message: string) => console.error(message, facts)
  : () => {};

export const silentLog: Log = {
  debug() {},
  info: process.env.FIRMQUOTE_TEST_LOG === '2' ? say : () => {},
  warn: say,
  error: say,
  fatal: say,
  child: () => silentLog,
};

/** Series of counters that exist, since something set them to 0. */
const born = new Map<string, Set<string>>();
const seriesOf = (labels: Record<string, string>) => JSON.stringify(Object.entries(labels).toSorted());

/** Checks only one law: each series of a counter starts at 0, or no alert would see its first event. */
export const silentMetrics: Metrics = {
  counter(name, _help, labels = []) {
    const series = born.get(name) ?? new Set([seriesOf({})]);
    born.set(name, series);
    if (!Array.isArray(labels))
      for (const values of product(Object.entries(labels))) series.add(seriesOf(values));
    return {
      add(values = {}, by = 1) {
        const one = seriesOf(values);
        if (by === 0) series.add(one);
        else if (!series.has(one)) throw new Error(`A series of ${name} did not start at 0: ${one}`);
      },
      remove(values) {
        series.delete(seriesOf(values));
      },
    };
  },
  gauge: () => ({ set() {} }),
  histogram: () => ({ observe() {} }),
};

const product = (labels: readonly (readonly [string, readonly string[]])[]): Record<string, string>[] =>
  labels.reduce<Record<string, string>[]>(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );
