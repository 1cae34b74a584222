/** The Metrics port on prom-client, with the process's own health beside it. */

import { setTimeout as rest, setImmediate as turn } from 'node:timers/promises';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { InvariantError } from '../../domain/errors.ts';
import type { Labels, Metrics } from '../../ports/metrics.ts';
import { collectProcess } from './process.ts';
import { createCollected, type Collected, createCounts, createObservations } from './series.ts';

export interface Exposition {
  contentType: string;
  /**
   * One scrape in UTF-8, one piece after the other. Not one text: that of a thousand pairs is 1.6 MB, which a
   * scraper makes old memory of, and giving much of it back holds the loop for as long as the system takes to
   * unmap it.
   */
  pieces(): Promise<readonly Buffer[]>;
  /** The same as one text. */
  text(): Promise<string>;
}

const NO_LABELS: Labels = {};
/** What a metric's lines begin with: its help and its type. */
const HEADER = /^# .*\n# .*/;
const NAME = /^firmquote_[a-z0-9]+(?:_[a-z0-9]+)+$/;

/**
 * Asking twice for one name gives the same metric, so that rooms need not know of each other. A scrape works
 * for `atOnceMs` and then rests for `restMs`: whoever scrapes can wait, and memory that is taken in haste
 * makes V8 collect on the loop's own time.
 */
export function createMetrics({
  atOnceMs = 0.5,
  restMs = 4,
}: { atOnceMs?: number; restMs?: number } = {}): Metrics & Exposition {
  const registry = new Registry();

  /** By name; a second one with other labels would be our bug, and it throws. */
  const made = new Map<string, { kind: unknown; labels: string; metric: unknown }>();

  function make<T>(kind: unknown, name: string, labelNames: readonly string[], create: () => T): T {
    if (!NAME.test(name))
      throw new InvariantError('A metric is named firmquote_<room>_<thing>_<unit>, in lower case.', {
        facts: { name },
      });
    const labels = labelNames.join();
    const known = made.get(name);
    if (known === undefined) {
      const metric = create();
      made.set(name, { kind, labels, metric });
      return metric;
    }
    if (known.kind !== kind || known.labels !== labels)
      throw new InvariantError('Two metrics of different kind or labels share a name.', { facts: { name } });
    return known.metric as T;
  }

  const collected = new Map<string, Collected>();

  /** Others have their turn now if this has had its own. */
  type Pause = () => Promise<void> | undefined;

  function createPause(): Pause {
    let sinceMs = performance.now();
    // Timers that are due run one after the other: the turn after a rest is for what came in meanwhile.
    const pause = async () => {
      await rest(restMs);
      await turn();
      sinceMs = performance.now();
    };
    return () => (performance.now() - sinceMs < atOnceMs ? undefined : pause());
  }

  /** In how many pieces it is written. */
  async function read(name: string, pause: Pause): Promise<number> {
    const reading = collected.get(name)?.read();
    if (reading === undefined) return 1;
    for (;;) {
      const { done, value } = reading.next();
      if (done === true) return value;
      await pause();
    }
  }

  /**
   * A thousand pairs are thousands of lines: others have their turn between two metrics, and within a long
   * one.
   */
  async function write(): Promise<Buffer[]> {
    const pause = createPause();
    const pieces: Buffer[] = [];
    for (const [index, { name }] of registry.getMetricsAsArray().entries()) {
      const steps = await read(name, pause);
      for (let step = 0; step < steps; step++) {
        const piece = await registry.getSingleMetricAsString(name);
        pieces.push(Buffer.from(step > 0 ? piece.replace(HEADER, '') : index > 0 ? `\n\n${piece}` : piece));
        await pause();
      }
    }
    pieces.push(Buffer.from('\n'));
    return pieces;
  }
  /** Who scrapes while somebody does gets the same. */
  let scrape: Promise<Buffer[]> | undefined;
  const pieces = () => (scrape ??= write().finally(() => (scrape = undefined)));

  const metrics: Metrics = {
    counter(name, help, labels = []) {
      return make(Counter, name, labels, () => {
        const counts = createCounts(labels);
        const counter: Counter = new Counter({
          name,
          help,
          labelNames: [...labels],
          registers: [registry],
          collect: () => counts.show(counter),
        });
        return { add: (values = NO_LABELS, by = 1) => counts.add(values, by) };
      });
    },
    gauge(name, help, labels = [], collect) {
      return make(Gauge, name, labels, () => {
        const made = new Gauge({ name, help, labelNames: [...labels], registers: [registry] });
        if (collect !== undefined)
          collected.set(name, createCollected(made, { name, help, names: labels, collect }));
        return { set: (value, values = NO_LABELS) => made.set(values, value) };
      });
    },
    histogram(name, help, buckets, labels = []) {
      return make(Histogram, name, labels, () => {
        const observations = createObservations(
          new Histogram({
            name,
            help,
            buckets: [...buckets],
            labelNames: [...labels],
            registers: [registry],
          }),
          { name, help, bounds: buckets, names: labels },
        );
        return { observe: (value, values = NO_LABELS) => observations.observe(value, values) };
      });
    },
  };
  collectProcess(metrics);
  return {
    ...metrics,
    contentType: registry.contentType,
    pieces,
    text: async () => Buffer.concat(await pieces()).toString(),
  };
}
