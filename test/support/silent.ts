/** A log and metrics for tests that look at neither. `FIRMQUOTE_TEST_LOG=1` shows warnings and worse. */

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

export const silentMetrics: Metrics = {
  counter: () => ({ add() {}, remove() {} }),
  gauge: () => ({ set() {} }),
  histogram: () => ({ observe() {} }),
};
