/**
 * Metrics of a process: names are `firmquote_<room>_<thing>_<unit>`, label values come from small fixed sets.
 */

export type Labels = Record<string, string>;

export interface Counter {
  /** `by` is 1 by default and never negative. */
  add(labels?: Labels, by?: number): void;
}
export interface Gauge {
  set(value: number, labels?: Labels): void;
}
export interface Histogram {
  /** `value` is finite, in the unit of the metric's name. */
  observe(value: number, labels?: Labels): void;
}

export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  /** `collect` sets all series anew at each scrape; a series that it does not set is not shown. */
  gauge(name: string, help: string, labels?: readonly string[], collect?: (gauge: Gauge) => void): Gauge;
  /** `buckets` are upper bounds, ascending. */
  histogram(name: string, help: string, buckets: readonly number[], labels?: readonly string[]): Histogram;
}
