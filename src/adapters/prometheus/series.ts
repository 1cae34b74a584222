/**
 * Counts as plain numbers, handed to prom-client when somebody scrapes: counting happens on the way of every
 * quote and prom-client's own takes microseconds each time, scraping happens a few times a minute.
 */

import type { Counter, Gauge, Histogram } from 'prom-client';
import { InvariantError } from '../../domain/errors.ts';
import type { Collect, Labels } from '../../ports/metrics.ts';

/** The series of one metric: what `create` made for each combination of label values. */
export interface SeriesBook<T> {
  /** Throws `InvariantError` for a label that the metric does not have. */
  of(labels: Labels): T;
  all(): Iterable<{ labels: Labels; series: T }>;
  /** Forgets those that are not wanted any more; what has no labels stays. */
  keep(wanted: (series: T) => boolean): void;
}

/**
 * A metric without labels has its one series from the start, so that it shows as 0 before anything happened.
 */
export function createSeriesBook<T>(names: readonly string[], create: () => T): SeriesBook<T> {
  const known = new Map<string, { labels: Labels; series: T }>();
  const [only = ''] = names;

  function add(key: string, labels: Labels): T {
    const strange = Object.keys(labels).find((name) => !names.includes(name));
    if (strange !== undefined)
      throw new InvariantError('A metric was counted with a label that it does not have.', {
        facts: { label: strange },
      });
    const series = create();
    known.set(key, { labels: { ...labels }, series });
    return series;
  }

  const bare = names.length === 0 ? add('', {}) : undefined;
  const keyOf = (labels: Labels): string =>
    names.length === 1 ? (labels[only] ?? '') : names.map((name) => labels[name] ?? '').join('\n');

  return {
    of(labels) {
      if (bare !== undefined) return bare;
      const key = keyOf(labels);
      return known.get(key)?.series ?? add(key, labels);
    },
    all: () => known.values(),
    keep(wanted) {
      for (const [key, { series }] of known) if (series !== bare && !wanted(series)) known.delete(key);
    },
  };
}

/** Counts for a prom-client counter. */
export function createCounts(names: readonly string[]) {
  const book = createSeriesBook(names, () => ({ value: 0 }));
  return {
    /** Throws `InvariantError` for what would count backwards. */
    add(labels: Labels, by: number): void {
      if (!(by >= 0 && by < Number.POSITIVE_INFINITY))
        throw new InvariantError('A counter counts up, by a number.', { facts: { by } });
      book.of(labels).value += by;
    },
    /** Hands them over: for the counter's `collect`. */
    show(counter: Counter): void {
      counter.reset();
      for (const { labels, series } of book.all()) counter.inc(labels, series.value);
    },
  };
}

/** A gauge whose values are read when somebody scrapes. */
export interface Collected {
  /**
   * Reads them, in steps, and says in how many pieces they are to be written: the gauge shows one each time
   * it is asked, then begins again.
   */
  read(): Generator<void, number>;
}

/**
 * Lines of one piece: a tenth of a millisecond, and so little memory that marking the old one, which goes on
 * as memory is taken, does little of its work in it.
 */
const PIECE = 64;

/**
 * Values for a prom-client gauge, which then shows these instead of its own: its way of telling series apart
 * takes microseconds each.
 */
export function createCollected(
  gauge: Gauge,
  { name, help, names, collect }: { name: string; help: string; names: readonly string[]; collect: Collect },
): Collected {
  // From one time to the next they are mostly the same, and making thousands anew would take the time of a
  // hundred quotes.
  const book = createSeriesBook(names, () => ({ value: 0, said: -1 }));
  let times = 0;
  let pieces: { labels: Labels; value: number }[][] = [[]];
  let next = 0;

  const shown = async () => ({
    name,
    help,
    type: 'gauge',
    aggregator: 'sum',
    values: pieces[next++ % pieces.length] ?? [],
  });
  Object.assign(gauge, { get: shown, getForPromString: shown });

  return {
    *read() {
      times += 1;
      const steps = collect({
        set: (value, labels = {}) => void Object.assign(book.of(labels), { value, said: times }),
      });
      if (steps !== undefined) yield* steps;
      // What is not said this time is gone: a series that ended must not keep its last value for ever.
      book.keep(({ said }) => said === times);
      yield;
      let piece: (typeof pieces)[number] = [];
      pieces = [piece];
      for (const {
        labels,
        series: { value, said },
      } of book.all()) {
        if (said !== times) continue;
        if (piece.length === PIECE) {
          pieces.push((piece = []));
          yield;
        }
        piece.push({ labels, value });
      }
      next = 0;
      return pieces.length;
    },
  };
}

/** Observations for a prom-client histogram, which then shows these instead of its own. `bounds` rise. */
export function createObservations(
  histogram: Histogram,
  {
    name,
    help,
    bounds,
    names,
  }: { name: string; help: string; bounds: readonly number[]; names: readonly string[] },
) {
  const book = createSeriesBook(names, () => ({ counts: new Float64Array(bounds.length), sum: 0, count: 0 }));

  /** As prom-client lays a histogram out: its buckets, each with what is below it, its sum and its count. */
  function values() {
    return [...book.all()].flatMap(({ labels, series: { counts, sum, count } }) => {
      let below = 0;
      const buckets = bounds.map((le, at) => ({
        metricName: `${name}_bucket`,
        labels: { le, ...labels },
        value: (below += counts[at] as number),
      }));
      return [
        ...buckets,
        { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
  }

  const shown = async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: values() });
  Object.assign(histogram, { get: shown, getForPromString: shown });

  return {
    /** Throws `InvariantError` for what is no number: one of them would make the sum none. */
    observe(value: number, labels: Labels): void {
      if (!Number.isFinite(value))
        throw new InvariantError('A histogram observes numbers.', { facts: { value } });
      const series = book.of(labels);
      series.sum += value;
      series.count += 1;
      for (let at = 0; at < bounds.length; at++) {
        if (value > (bounds[at] as number)) continue;
        series.counts[at] = (series.counts[at] as number) + 1;
        return;
      }
    },
  };
}
