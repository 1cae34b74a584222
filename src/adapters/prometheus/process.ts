/** Process metrics: CPU, memory, file descriptors, event-loop lag. */

import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { VERSION } from '../system/version.ts';
import type { Metrics } from '../../ports/metrics.ts';

const LAG_WINDOW_MS = 30_000;
const QUANTILES = [50, 90, 99] as const;

export function collectProcess(metrics: Metrics): void {
  metrics.gauge(
    'firmquote_process_build_info',
    '1, with the versions that run.',
    ['version', 'node'],
    (gauge) => gauge.set(1, { version: VERSION, node: process.versions.node }),
  );
  let seenMicros = 0;
  metrics.gauge('firmquote_process_resident_memory_bytes', 'Resident memory.', [], (gauge) => {
    gauge.set(process.memoryUsage.rss());
    // Counters cannot be set, so this gauge raises the CPU counter. It comes first, so that the same scrape
    // shows it.
    const { user, system } = process.cpuUsage();
    cpu.add({}, Math.max(0, user + system - seenMicros) / 1e6);
    seenMicros = user + system;
  });
  const cpu = metrics.counter(
    'firmquote_process_cpu_seconds_total',
    'User and system CPU time of this process.',
  );
  metrics.gauge('firmquote_process_heap_used_bytes', 'JavaScript heap in use.', [], (gauge) =>
    gauge.set(process.memoryUsage().heapUsed),
  );
  const startedAtSeconds = Date.now() / 1000 - process.uptime();
  metrics.gauge(
    'firmquote_process_start_time_seconds',
    'Unix time at which this process started.',
    [],
    (gauge) => gauge.set(startedAtSeconds),
  );
  metrics.gauge(
    'firmquote_process_open_fds',
    'Open file descriptors; absent where the platform does not report them.',
    [],
    (gauge) => {
      try {
        gauge.set(readdirSync('/proc/self/fd').length);
      } catch {
        // Not Linux.
      }
    },
  );

  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const seconds = () => QUANTILES.map((quantile) => delay.percentile(quantile) / 1e9);
  let last = QUANTILES.map(() => 0);
  // By time and not by scrape: a second scraper must not hide what the first one would have seen.
  setInterval(() => {
    last = seconds();
    delay.reset();
  }, LAG_WINDOW_MS).unref();
  metrics.gauge(
    'firmquote_process_event_loop_lag_seconds',
    'Event-loop delay of the last 30 to 60 seconds, by percentile.',
    ['percentile'],
    (gauge) =>
      seconds().forEach((now, at) =>
        gauge.set(Math.max(now, last[at] ?? 0), { percentile: `p${QUANTILES[at]}` }),
      ),
  );
}
