/** Process metrics: CPU, memory, file descriptors, event-loop lag. */

import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from '../../ports/metrics.ts';

const QUANTILES = [50, 90, 99] as const;

export function collectProcess(metrics: Metrics): void {
  const cpu = metrics.counter(
    'firmquote_process_cpu_seconds_total',
    'User and system CPU time of this process.',
  );
  let seenMicros = 0;
  metrics.gauge('firmquote_process_resident_memory_bytes', 'Resident memory.', [], (gauge) => {
    gauge.set(process.memoryUsage.rss());
    // Counters cannot be set, so this gauge, read at each scrape, raises the CPU counter.
    const { user, system } = process.cpuUsage();
    cpu.add({}, Math.max(0, user + system - seenMicros) / 1e6);
    seenMicros = user + system;
  });
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
  metrics.gauge(
    'firmquote_process_event_loop_lag_seconds',
    'Event-loop delay since the last scrape, by percentile.',
    ['percentile'],
    (gauge) => {
      for (const quantile of QUANTILES)
        gauge.set(delay.percentile(quantile) / 1e9, { percentile: `p${quantile}` });
      delay.reset();
    },
  );
}
