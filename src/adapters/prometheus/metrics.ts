/** The Metrics port on prom-client. */

import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { InvariantError } from '../../domain/errors.ts';
import type { Gauge as GaugePort, LabelValues, Metrics } from '../../ports/metrics.ts';
import { collectProcess } from './process.ts';

export interface Exposition {
  contentType: string;
  text(): Promise<string>;
}

const NAME = /^firmquote_[a-z0-9]+(?:_[a-z0-9]+)+$/;

export function createMetrics(): Metrics & Exposition {
  const registry = new Registry();
  const registers = [registry];
  const created = new Map<string, { kind: unknown; labels: string; metric: unknown }>();

  /** Throws `InvariantError` for a malformed name, or one of another kind or with other labels. */
  function getOrCreate<T>(kind: unknown, name: string, labelNames: readonly string[], create: () => T): T {
    if (!NAME.test(name))
      throw new InvariantError('A metric is named firmquote_<room>_<thing>_<unit>, in lower case.', {
        facts: { name },
      });
    const labels = labelNames.join();
    const existing = created.get(name);
    if (existing === undefined) {
      const metric = create();
      created.set(name, { kind, labels, metric });
      return metric;
    }
    if (existing.kind !== kind || existing.labels !== labels)
      throw new InvariantError('Two metrics of different kind or labels share a name.', { facts: { name } });
    return existing.metric as T;
  }

  const metrics: Metrics = {
    counter(name, help, labels = []) {
      const labelNames = namesOf(labels);
      const port = getOrCreate(Counter, name, labelNames, () => {
        const counter = new Counter({ name, help, labelNames: [...labelNames], registers });
        return {
          add: (values: Record<string, string> = {}, by = 1) => counter.inc(values, by),
          remove: (values: Record<string, string>) => counter.remove(values),
        };
      });
      if (!Array.isArray(labels)) for (const values of product(Object.entries(labels))) port.add(values, 0);
      return port;
    },
    gauge(name, help, labels = [], collect) {
      const { port, collectors } = getOrCreate(Gauge, name, labels, () => {
        const all: ((gauge: GaugePort) => void)[] = [];
        const gauge: Gauge = new Gauge({ name, help, labelNames: [...labels], registers, collect: refresh });
        const self: GaugePort = { set: (value, values = {}) => gauge.set(values, value) };
        /** A series that is not set again must not keep its last value. */
        function refresh(): void {
          if (all.length === 0) return;
          if (labels.length === 0) gauge.remove();
          else gauge.reset();
          for (const each of all) each(self);
        }
        return { port: self, collectors: all };
      });
      // One for each chain, for instance.
      if (collect) collectors.push(collect);
      return port;
    },
    histogram(name, help, buckets, labels = []) {
      const labelNames = namesOf(labels);
      return getOrCreate(Histogram, name, labelNames, () => {
        const histogram = new Histogram({
          name,
          help,
          buckets: [...buckets],
          labelNames: [...labelNames],
          registers,
        });
        if (!Array.isArray(labels))
          for (const values of product(Object.entries(labels))) histogram.zero(values);
        return { observe: (value, values = {}) => histogram.observe(values, value) };
      });
    },
  };
  collectProcess(metrics);
  return { ...metrics, contentType: registry.contentType, text: () => registry.metrics() };
}

const namesOf = (labels: readonly string[] | LabelValues): readonly string[] =>
  Array.isArray(labels) ? (labels as readonly string[]) : Object.keys(labels);

/** Lists every combination of label values. */
const product = (labels: readonly (readonly [string, readonly string[]])[]): Record<string, string>[] =>
  labels.reduce<Record<string, string>[]>(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );
