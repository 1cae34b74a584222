/** Wake-ups on BullMQ. A job holds ids only; losing all jobs costs one sweep. */

import {
  createPostgresBackend,
  Queue as BullQueue,
  type QueueOptions,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import type pg from 'pg';
import { UpstreamError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Queue, QueueDepth } from '../../ports/queue.ts';
import { createBatcher } from '../batcher.ts';
import { setSession, withoutStartOptions } from '../postgres/session.ts';
import { createSemaphore } from '../semaphore.ts';
import { systemClock } from '../system/clock.ts';
import { keepStringsFast } from '../system/fast-strings.ts';
import { type QueueWatch, unwatchedQueues, watchQueues } from './queue-metrics.ts';

// BullMQ imports ioredis.
keepStringsFast();

export type QueueConnection =
  | { kind: 'postgres'; url: string; schema: string }
  /** `prefix` separates installations that share a Redis; its eviction policy must be noeviction. */
  | { kind: 'redis'; url: string; prefix: string };

interface BullOptions {
  connection: QueueConnection;
  log: Log;
  /** Given when the process is scraped. */
  metrics?: Metrics;
  /** Other workers take the jobs of a worker silent for this long. */
  lockMs?: number;
}

const ANSWER_MS = 2_000;
const AGAIN_MS = 1_000;
const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 30_000;
const MOST_TRIES = 1_000;

const SHARED = 100;
/**
 * A job takes six statements of BullMQ. New orders reach the workers by the bus too, so a wake-up may wait
 * for others.
 */
const GATHER_MS = 50;

interface Job {
  id: string;
  others?: readonly string[];
}

/** What this file uses of a job that BullMQ hands to a worker. */
interface RunJob {
  data: Job;
  updateData(data: Job): Promise<void>;
}

export interface WatchedQueue extends Queue {
  /** Empty without metrics, and while the queue's server does not answer. */
  depths(): QueueDepth[];
}

/** The ends of one queue that are open in this process. */
interface BullState {
  readonly connection: QueueConnection;
  readonly log: Log;
  readonly lockMs: number;
  /** By topic, as are the wakers. */
  readonly producers: Map<string, BullQueue<Job>>;
  readonly wakers: Map<string, (id: string) => Promise<void>>;
  readonly workers: Set<Worker<Job>>;
  /** Timers that start a worker again. */
  readonly retries: Set<NodeJS.Timeout>;
  closed: boolean;
}

export function createBullQueue({ connection, log, metrics, lockMs = 30_000 }: BullOptions): WatchedQueue {
  const state: BullState = {
    connection,
    log,
    lockMs,
    producers: new Map(),
    wakers: new Map(),
    workers: new Set(),
    retries: new Set(),
    closed: false,
  };
  const watch =
    metrics === undefined
      ? unwatchedQueues
      : watchQueues(
          {
            kind: connection.kind,
            producer: (topic) => readyProducer(state, topic) as Promise<BullQueue>,
            within: withinAnswerTime,
          },
          metrics,
        );

  return {
    wake: (topic, id, delayMs = 0) => wake(state, watch, topic, id, delayMs),
    process: (topic, concurrency, handler) => handleTopic(state, watch, topic, concurrency, handler),
    depths: watch.depths,
    close() {
      watch.stop();
      return close(state);
    },
  };
}

async function wake(
  state: BullState,
  watch: QueueWatch,
  topic: string,
  id: string,
  delayMs: number,
): Promise<void> {
  watch.uses(topic);
  try {
    await (delayMs > 0 ? withinAnswerTime(add(state, topic, [id], delayMs)) : waker(state, topic)(id));
  } catch (error) {
    watch.refused(topic);
    throw new UpstreamError('The queue did not accept a wake-up; the next sweep covers it.', {
      code: 'queue_unavailable',
      facts: { topic, reason: codeOf(error as Error) },
    });
  }
}

/** Returns the function that gathers the wake-ups of one moment into few jobs. */
function waker(state: BullState, topic: string): (id: string) => Promise<void> {
  const known = state.wakers.get(topic);
  if (known) return known;
  const gather = createBatcher<string, void>(
    async (ids) => {
      await withinAnswerTime(add(state, topic, [...new Set(ids)], 0));
      return [];
    },
    { max: Number.POSITIVE_INFINITY, pauseMs: GATHER_MS },
  );
  state.wakers.set(topic, gather);
  return gather;
}

async function add(state: BullState, topic: string, ids: readonly string[], delayMs: number): Promise<void> {
  const queue = await readyProducer(state, topic);
  const jobs: Job[] = Array.from({ length: Math.ceil(ids.length / SHARED) }, (_, n) => {
    const [id = '', ...others] = ids.slice(n * SHARED, (n + 1) * SHARED);
    return others.length > 0 ? { id, others } : { id };
  });
  const options = delayMs > 0 ? { delay: delayMs } : {};
  const [first] = jobs;
  if (first && jobs.length === 1) await queue.add('wake', first, options);
  else await queue.addBulk(jobs.map((data) => ({ name: 'wake', data, opts: options })));
}

async function readyProducer(state: BullState, topic: string): Promise<BullQueue<Job>> {
  const queue = producer(state, topic);
  await up(queue, () => state.producers.delete(topic));
  return queue;
}

function producer(state: BullState, topic: string): BullQueue<Job> {
  const known = state.producers.get(topic);
  if (known) return known;
  const options = {
    defaultJobOptions: {
      removeOnComplete: true,
      removeOnFail: 1_000,
      attempts: MOST_TRIES,
      backoff: { type: 'custom' },
    },
  };
  const queue = open<BullQueue<Job>>(
    state.connection,
    (settings) =>
      new BullQueue<Job>(
        topic,
        { ...options, connection: settings } as QueueOptions<never>,
        createPostgresBackend as never,
      ),
    // Fails fast instead of queueing commands while Redis is away.
    (settings, prefix) =>
      new BullQueue<Job>(topic, {
        ...options,
        prefix,
        connection: {
          ...settings,
          enableOfflineQueue: false,
          maxRetriesPerRequest: 1,
          commandTimeout: ANSWER_MS,
        },
      }),
  );
  queue.on('error', warn(state.log, topic));
  state.producers.set(topic, queue);
  return queue;
}

function open<T>(
  connection: QueueConnection,
  onPostgres: (settings: object) => T,
  onRedis: (settings: { url: string }, prefix: string) => T,
): T {
  if (connection.kind === 'redis') return onRedis({ url: connection.url }, connection.prefix);
  // BullMQ adds no error listener while it migrates; losing the connection would crash the process.
  return onPostgres({
    connectionString: withoutStartOptions(connection.url),
    schema: connection.schema,
    migrate: true,
    max: 4,
    onConnect: (client: pg.ClientBase) => {
      client.on('error', () => {});
      return setSession(client, { search_path: connection.schema });
    },
  });
}

/** BullMQ on PostgreSQL never recovers from a failed start: `giveUp` drops the instance. */
async function up<T extends BullQueue<Job> | Worker<Job>>(end: T, giveUp: () => void): Promise<void> {
  await end.waitUntilReady().catch((error: Error) => {
    giveUp();
    end.close().catch(() => {});
    throw error;
  });
}

const warn = (log: Log, topic: string) => (error: Error) =>
  log.warn({ topic, reason: codeOf(error) }, 'the queue reported an error; the sweep covers missed wake-ups');

async function handleTopic(
  state: BullState,
  watch: QueueWatch,
  topic: string,
  concurrency: number,
  handler: (id: string) => Promise<void>,
): Promise<void> {
  watch.uses(topic);
  const handlers = createSemaphore(concurrency, systemClock);
  const handle = async (id: string): Promise<void> => {
    await handlers.acquire();
    const startMs = performance.now();
    let ok = false;
    try {
      await handler(id);
      ok = true;
    } finally {
      watch.handled(topic, performance.now() - startMs, ok);
      handlers.release();
    }
  };
  // The worker connects when the queue is back; the sweep covers the meantime.
  await withinAnswerTime(startWorker(state, topic, concurrency, handle)).catch(warn(state.log, topic));
}

async function startWorker(
  state: BullState,
  topic: string,
  concurrency: number,
  handle: (id: string) => Promise<void>,
): Promise<void> {
  const { log, lockMs, workers, retries } = state;
  const run = (job: RunJob) => runJob(job, handle);
  const options = {
    concurrency,
    lockDuration: lockMs,
    stalledInterval: lockMs,
    settings: {
      backoffStrategy: (attempt: number) =>
        Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 10)),
    },
  };
  const worker = open<Worker<Job>>(
    state.connection,
    (settings) =>
      new Worker<Job>(
        topic,
        run,
        { ...options, connection: settings } as WorkerOptions<never>,
        createPostgresBackend as never,
      ),
    (settings, prefix) =>
      new Worker<Job>(topic, run, {
        ...options,
        prefix,
        connection: { ...settings, maxRetriesPerRequest: null },
      }),
  );
  worker.on('error', warn(log, topic));
  worker.on('failed', (job, error) =>
    log.warn(
      { topic, id: job?.data.id, tries: job?.attemptsMade, error },
      'a wake-up failed and will be repeated',
    ),
  );
  workers.add(worker);
  await up(worker, () => {
    workers.delete(worker);
    const again = (): void => void startWorker(state, topic, concurrency, handle).catch(warn(log, topic));
    if (!state.closed) retries.add(setTimeout(again, AGAIN_MS));
  });
}

/** Handles each id of the job. BullMQ repeats the job for those that failed. */
async function runJob(job: RunJob, handle: (id: string) => Promise<void>): Promise<void> {
  const ids = [job.data.id, ...(job.data.others ?? [])];
  const ends = await Promise.allSettled(ids.map(handle));
  const failed = ends.flatMap((end, index) =>
    end.status === 'rejected' ? { id: ids[index] as string, reason: end.reason as Error } : [],
  );
  const [first, ...rest] = failed;
  if (!first) return;
  // If this update is lost, the others are handled twice, which is harmless.
  if (failed.length < ids.length)
    await job.updateData({ id: first.id, others: rest.map(({ id }) => id) }).catch(() => {});
  throw first.reason;
}

async function close(state: BullState): Promise<void> {
  state.closed = true;
  for (const retry of state.retries) clearTimeout(retry);
  // In parallel, because a process has ten seconds to stop.
  await Promise.allSettled(
    [...state.workers, ...state.producers.values()].map((end) =>
      withinAnswerTime(end.close()).catch(() => withinAnswerTime(end.disconnect())),
    ),
  );
}

const codeOf = (error: Error & { code?: string }): string => error.code ?? error.name;

function withinAnswerTime<T>(answer: Promise<T>): Promise<T> {
  let giveUp: NodeJS.Timeout | undefined;
  const late = new Promise<never>(
    (_, reject) =>
      (giveUp = setTimeout(
        () => reject(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })),
        ANSWER_MS,
      )),
  );
  return Promise.race([answer, late]).finally(() => clearTimeout(giveUp));
}
