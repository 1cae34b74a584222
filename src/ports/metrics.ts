/** Metrics: names are `firmquote_<room>_<thing>_<unit>`, label values come from small fixed sets. */

type Labels = Record<string, string>;
export type LabelValues = Readonly<Record<string, readonly string[]>>;

export interface Counter {
  /** `by` is never negative. */
  add(labels?: Labels, by?: number): void;
  /** Takes away one series, given by all its labels: what it counted is no longer there. */
  remove(labels: Labels): void;
}
export interface Gauge {
  set(value: number, labels?: Labels): void;
}
export interface Histogram {
  /** Finite, in the unit of the metric's name. */
  observe(value: number, labels?: Labels): void;
}

export interface Metrics {
  /**
   * Registers a counter. With the values of every label, each series starts at 0, so that an alert sees its
   * first event. Label names alone are for values that are not known in advance.
   */
  counter(name: string, help: string, labels?: readonly string[] | LabelValues): Counter;
  /** `collect` sets series at each scrape; those that no `collect` of this name sets are not shown. */
  gauge(name: string, help: string, labels?: readonly string[], collect?: (gauge: Gauge) => void): Gauge;
  /**
   * Registers a histogram. With the values of every label, each series starts empty, as a counter's does at
   * 0.
   */
  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
    labels?: readonly string[] | LabelValues,
  ): Histogram;
}
