/** The Metrics port on prom-client, with the process's own health beside it. */

import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { InvariantError } from '../../domain/errors.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { collectProcess } from './process.ts';

export interface Exposition {
  contentType: string;
  text(): Promise<string>;
}

const NAME = /^firmquote_[a-z0-9]+(?:_[a-z0-9]+)+$/;

/** Asking twice for one name gives the same metric, so that rooms need not know of each other. */
export function createMetrics(): Metrics & Exposition {
  const registry = new Registry();

  /** prom-client keeps metrics by name; a second one with other labels would be our bug, and it throws. */
  function make<T extends Counter | Gauge | Histogram>(kind: new (...args: never[]) => T, name: string, labels: readonly string[], create: () => T): T {
    if (!NAME.test(name)) throw new InvariantError('A metric is named firmquote_<room>_<thing>_<unit>, in lower case.', { facts: { name } });
    const known = registry.getSingleMetric(name);
    if (!known) return create();
    const same = known instanceof kind && labelNames(known).join() === labels.join();
    if (!same) throw new InvariantError('Two metrics of different kind or labels share a name.', { facts: { name } });
    return known;
  }

  const metrics: Metrics = {
    counter(name, help, labels = []) {
      const counter = make(Counter, name, labels, () => new Counter({ name, help, labelNames: [...labels], registers: [registry] }));
      return { add: (values = {}, by = 1) => counter.inc(values, by) };
    },
    gauge(name, help, labels = [], collect) {
      const gauge = make(Gauge, name, labels, () => {
        const made: Gauge = new Gauge({
          name,
          help,
          labelNames: [...labels],
          registers: [registry],
          ...(collect
            ? {
                collect() {
                  // What is not said this time is gone: a series that ended must not keep its last value for ever.
                  made.reset();
                  collect({ set: (value, values = {}) => made.set(values, value) });
                },
              }
            : {}),
        });
        return made;
      });
      return { set: (value, values = {}) => gauge.set(values, value) };
    },
    histogram(name, help, buckets, labels = []) {
      const histogram = make(Histogram, name, labels, () => new Histogram({ name, help, buckets: [...buckets], labelNames: [...labels], registers: [registry] }));
      return { observe: (value, values = {}) => histogram.observe(values, value) };
    },
  };
  collectProcess(metrics);
  return { ...metrics, contentType: registry.contentType, text: () => registry.metrics() };
}

function labelNames(metric: object): string[] {
  return 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [];
}
