/**
 * Wake-ups on BullMQ: in PostgreSQL by default, in Redis when there is one. A job is an id and nothing else;
 * losing all of them costs a sweep.
 */

import type { EventEmitter } from 'node:events';
import {
  createPostgresBackend,
  Queue as BullQueue,
  type QueueOptions,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { UpstreamError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import type { Queue } from '../../ports/queue.ts';
import { createBatcher } from '../batcher.ts';

export type QueueConnection =
  /** A schema of its own: BullMQ's tables are not ours. */
  | { kind: 'postgres'; url: string; schema: string }
  /** `prefix` separates installations that share a Redis. Its policy has to be noeviction. */
  | { kind: 'redis'; url: string; prefix: string };

export interface BullOptions {
  connection: QueueConnection;
  log: Log;
  /** How long a worker may be silent before its jobs go to another one. */
  lockMs?: number;
}

/**
 * A queue that has not answered by then counts as away: a wake-up is not worth more, and neither is a
 * farewell.
 */
const ANSWER_MS = 2_000;
const AGAIN_MS = 1_000;
const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 30_000;
const MOST_TRIES = 1_000;

/** Wake-ups of the same time share a job, at most so many. */
const SHARED = 100;

interface Job {
  id: string;
  /** Woken with it. */
  others?: readonly string[];
}

export function createBullQueue({ connection, log, lockMs = 30_000 }: BullOptions): Queue {
  const producers = new Map<string, BullQueue<Job>>();
  const workers = new Set<Worker<Job>>();
  const retries = new Set<NodeJS.Timeout>();
  let closed = false;
  const wakers = new Map<string, (id: string) => Promise<void>>();
  const warn = (topic: string) => (error: Error) =>
    log.warn({ topic, reason: codeOf(error) }, 'the queue is in trouble; the sweep covers for it');

  function producer(topic: string): BullQueue<Job> {
    const known = producers.get(topic);
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
      (settings) =>
        new BullQueue<Job>(
          topic,
          { ...options, connection: settings } as QueueOptions<never>,
          createPostgresBackend as never,
        ),
      // Producers answer at once, with an error if need be; they do not collect commands for a Redis that is
      // away.
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
    queue.on('error', warn(topic));
    producers.set(topic, queue);
    return queue;
  }

  function open<T>(
    onPostgres: (settings: object) => T,
    onRedis: (settings: { url: string }, prefix: string) => T,
  ): T {
    if (connection.kind === 'redis') return onRedis({ url: connection.url }, connection.prefix);
    // A connection that is lost while BullMQ migrates has no listener of its own, and would take the process
    // with it.
    return onPostgres({
      connectionString: connection.url,
      schema: connection.schema,
      migrate: true,
      max: 4,
      onConnect: (client: EventEmitter) => void client.on('error', () => {}),
    });
  }

  /**
   * BullMQ on PostgreSQL remembers for ever that it could not come up: whatever did not is given up, and made
   * anew by who wants it.
   */
  async function up<T extends BullQueue<Job> | Worker<Job>>(end: T, giveUp: () => void): Promise<void> {
    await end.waitUntilReady().catch((error: Error) => {
      giveUp();
      end.close().catch(() => {});
      throw error;
    });
  }

  /** One answer is awaited at a time: what comes meanwhile is asked together. */
  function waker(topic: string): (id: string) => Promise<void> {
    const known = wakers.get(topic);
    if (known) return known;
    const wake = createBatcher<string, void>(
      async (ids) => {
        await withinAnswerTime(add(topic, [...new Set(ids)], 0));
        return [];
      },
      { max: Number.POSITIVE_INFINITY },
    );
    wakers.set(topic, wake);
    return wake;
  }

  async function add(topic: string, ids: readonly string[], delayMs: number): Promise<void> {
    const queue = producer(topic);
    await up(queue, () => producers.delete(topic));
    const jobs: Job[] = Array.from({ length: Math.ceil(ids.length / SHARED) }, (_, n) => {
      const [id = '', ...others] = ids.slice(n * SHARED, (n + 1) * SHARED);
      return others.length > 0 ? { id, others } : { id };
    });
    const options = delayMs > 0 ? { delay: delayMs } : {};
    const [first] = jobs;
    if (first && jobs.length === 1) await queue.add('wake', first, options);
    else await queue.addBulk(jobs.map((data) => ({ name: 'wake', data, opts: options })));
  }

  return {
    async wake(topic, id, delayMs = 0) {
      try {
        await (delayMs > 0 ? withinAnswerTime(add(topic, [id], delayMs)) : waker(topic)(id));
      } catch (error) {
        throw new UpstreamError('The queue did not take a wake-up; the next sweep does without it.', {
          code: 'queue_unavailable',
          facts: { topic, reason: codeOf(error as Error) },
        });
      }
    },
    async process(topic, concurrency, handler) {
      const options = {
        concurrency,
        lockDuration: lockMs,
        stalledInterval: lockMs,
        settings: {
          backoffStrategy: (attempt: number) =>
            Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 10)),
        },
      };
      const limited = createLimit(concurrency);
      const run = async (job: { data: Job; updateData(data: Job): Promise<void> }) => {
        const ids = [job.data.id, ...(job.data.others ?? [])];
        const ends = await Promise.allSettled(ids.map((id) => limited(() => handler(id))));
        const failed = ends.flatMap((end, index) =>
          end.status === 'rejected' ? { id: ids[index] as string, reason: end.reason as Error } : [],
        );
        const [first, ...rest] = failed;
        if (!first) return;
        // Those that were handled need not be again; if this is lost, they are, which does no harm.
        if (failed.length < ids.length)
          await job.updateData({ id: first.id, others: rest.map(({ id }) => id) }).catch(() => {});
        throw first.reason;
      };
      const start = async (): Promise<void> => {
        const worker = open<Worker<Job>>(
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
        worker.on('error', warn(topic));
        worker.on('failed', (job, error) =>
          log.warn(
            { topic, id: job?.data.id, tries: job?.attemptsMade, error },
            'a wake-up failed and will be repeated',
          ),
        );
        workers.add(worker);
        await up(worker, () => {
          workers.delete(worker);
          if (!closed) retries.add(setTimeout(() => void start().catch(warn(topic)), AGAIN_MS));
        });
      };
      // It may be away for now: the worker connects when it is back, and until then the sweep does its work.
      await withinAnswerTime(start()).catch(warn(topic));
    },
    async close() {
      closed = true;
      for (const retry of retries) clearTimeout(retry);
      // One that does not answer is left without a farewell. All at once: a process has ten seconds for
      // everything that it closes.
      await Promise.allSettled(
        [...workers, ...producers.values()].map((end) =>
          withinAnswerTime(end.close()).catch(() => withinAnswerTime(end.disconnect())),
        ),
      );
    },
  };
}

/** So many at work; the rest in line. */
function createLimit(most: number): (work: () => Promise<void>) => Promise<void> {
  const line: (() => void)[] = [];
  let busy = 0;
  return async (work) => {
    if (busy >= most) await new Promise<void>((go) => line.push(go));
    else busy += 1;
    try {
      await work();
    } finally {
      const next = line.shift();
      if (next) next();
      else busy -= 1;
    }
  };
}

const codeOf = (error: Error & { code?: string }): string => error.code ?? error.name;

/** Rejects when the queue has not answered after `ANSWER_MS`. */
export function withinAnswerTime<T>(answer: Promise<T>): Promise<T> {
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
