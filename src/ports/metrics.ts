/**
 * Numbers that every process shows; names are `firmquote_<room>_<thing>_<unit>`, labels come from small fixed
 * sets.
 */

export type Labels = Record<string, string>;

export interface Counter {
  add(labels?: Labels, by?: number): void;
}
export interface Gauge {
  set(value: number, labels?: Labels): void;
}
export type Collect = (gauge: Gauge) => Iterable<void> | void;
export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  /**
   * With `collect`, the values are read when somebody scrapes; where they are very many in steps, with
   * others' turns in between.
   */
  gauge(name: string, help: string, labels?: readonly string[], collect?: Collect): Gauge;
  histogram(name: string, help: string, buckets: readonly number[], labels?: readonly string[]): Histogram;
}
