/**
 * Metrics of the wake-up queue. The queue is read every few seconds: a scrape must not wait for a Redis that
 * does not answer.
 */

import type { Queue as BullQueue } from 'bullmq';
import type { Metrics } from '../../ports/metrics.ts';
import type { QueueDepth } from '../../ports/queue.ts';

const POLL_MS = 2_000;
const JOB_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60];
/** `prioritized`: BullMQ keeps jobs with a priority apart. `failed`: given up after every try. */
const STATES = ['waiting', 'active', 'delayed', 'prioritized', 'failed'] as const;

interface QueueReading {
  counts: Readonly<Record<string, number>>;
  oldestDueSeconds: number;
}

export interface QueueWatch {
  /** Notes that this process wakes or handles the topic from now on. */
  uses(topic: string): void;
  /** Notes how long a handler took, ms. */
  handled(topic: string, ms: number, ok: boolean): void;
  /** A wake-up was not accepted. */
  refused(topic: string): void;
  /** Empty while the queue's server does not answer. */
  depths(): QueueDepth[];
  stop(): void;
}

interface WatchedQueues {
  kind: 'postgres' | 'redis';
  /** Ready to be asked. Throws when the queue's server does not answer. */
  producer(topic: string): Promise<BullQueue>;
  /** Rejects what has no answer in time. */
  within<T>(answer: Promise<T>): Promise<T>;
}

export const unwatchedQueues: QueueWatch = {
  uses() {},
  handled() {},
  refused() {},
  depths: () => [],
  stop() {},
};

export function watchQueues({ kind, producer, within }: WatchedQueues, metrics: Metrics): QueueWatch {
  const topics = new Set<string>();
  let readings = new Map<string, QueueReading>();
  let stopped = false;
  const up = metrics.gauge(
    'firmquote_queue_up',
    '1 while the server of the queue answers, by kind: redis or postgres.',
    ['kind'],
  );
  metrics.gauge('firmquote_queue_jobs', 'Jobs in the queue, by topic and state.', ['topic', 'state'], (g) => {
    for (const [topic, { counts }] of readings)
      for (const state of STATES) g.set(counts[state] ?? 0, { topic, state });
  });
  metrics.gauge(
    'firmquote_queue_oldest_due_seconds',
    'How long the first job of the queue has been due without a worker; 0 without any.',
    ['topic'],
    (g) => {
      for (const [topic, { oldestDueSeconds }] of readings) g.set(oldestDueSeconds, { topic });
    },
  );
  const handled = metrics.histogram(
    'firmquote_queue_job_seconds',
    'How long handlers took for one wake-up, by topic and outcome.',
    JOB_BUCKETS,
    ['topic', 'outcome'],
  );
  const failures = metrics.counter(
    'firmquote_queue_failures_total',
    'Wake-ups whose handler failed (handler), or that the queue did not accept (wake).',
    ['topic', 'what'],
  );

  async function readQueue(topic: string): Promise<[string, QueueReading]> {
    const queue = await producer(topic);
    // Closing must not wait for what is asked now.
    if (stopped) return [topic, { counts: {}, oldestDueSeconds: 0 }];
    const [counts, [first]] = await Promise.all([
      queue.getJobCounts(...STATES),
      queue.getJobs(['waiting'], 0, 0, true),
    ]);
    const dueAtMs = first === undefined ? undefined : first.timestamp + (first.opts.delay ?? 0);
    return [
      topic,
      { counts, oldestDueSeconds: dueAtMs === undefined ? 0 : Math.max(0, Date.now() - dueAtMs) / 1_000 },
    ];
  }

  async function readQueues(): Promise<void> {
    try {
      readings = new Map(await within(Promise.all([...topics].map(readQueue))));
      if (topics.size > 0) up.set(1, { kind });
    } catch {
      // Old numbers would look like present ones.
      readings = new Map();
      up.set(0, { kind });
    }
  }

  let timer: NodeJS.Timeout | undefined;
  function poll(): void {
    void readQueues().then(() => {
      if (!stopped) timer = setTimeout(poll, POLL_MS).unref();
    });
  }
  poll();

  return {
    uses(topic) {
      if (topics.has(topic)) return;
      topics.add(topic);
      for (const what of ['handler', 'wake']) failures.add({ topic, what }, 0);
    },
    handled(topic, ms, ok) {
      handled.observe(ms / 1_000, { topic, outcome: ok ? 'done' : 'failed' });
      if (!ok) failures.add({ topic, what: 'handler' });
    },
    refused: (topic) => failures.add({ topic, what: 'wake' }),
    depths: () =>
      [...readings].map(([topic, { counts, oldestDueSeconds }]) => ({
        topic,
        waiting: (counts['waiting'] ?? 0) + (counts['prioritized'] ?? 0),
        active: counts['active'] ?? 0,
        delayed: counts['delayed'] ?? 0,
        failed: counts['failed'] ?? 0,
        oldestDueSeconds,
      })),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
