/**
 * Holds of all replicas of an LP in one Redis. Each call is one script, and names the epoch that was
 * joined, so lost data is noticed before another hold is made.
 */

import { Redis } from 'ioredis';
import { RequestError, UpstreamError } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Random } from '../../ports/random.ts';
import type { SharedInventory, SharedState, SharedSum, Verdict } from '../../ports/shared-inventory.ts';
import { keepStringsFast } from '../system/fast-strings.ts';
import { BASE, JOIN, KEPT_HOLDS, PROMISE, SUMMED, TELL } from './scripts.ts';

keepStringsFast();

interface SharedInventoryOptions {
  url: string;
  name: string;
  timeoutMs: number;
}

type Keys = readonly [meta: string, rooms: string, sums: string, groups: string, ids: string];
type Script = (...given: [...Keys, string]) => Promise<unknown>;
type Scripts = Record<'promiseInventory' | 'tellInventory' | 'keptInventory' | 'sumInventory', Script> & {
  joinInventory(
    meta: string,
    identity: string,
    epoch: string,
    until: string,
  ): Promise<[epoch: string, until: string]>;
};

/** Limited, so that many expiries in one second do not delay quotes. */
const MOST_LAPSES = 500;
/** The scripts count exactly up to here. */
const MOST = BASE * BASE - 1n;
const BUCKETS_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5];

const split = (amount: bigint): [number, number] => [Number(amount / BASE), Number(amount % BASE)];
/** Splits rooms and caps, where less is safe. */
const atMost = (amount: bigint): [number, number] => split(amount < 0n ? 0n : amount > MOST ? MOST : amount);
const join = (text: string): bigint => {
  const [high, low] = text.split(':') as [string, string];
  return BigInt(high) * BASE + BigInt(low);
};
const bucketKey = (bucket: string): string => `i ${bucket}`;
const capKey = (key: string): string => `c ${key}`;

export function createSharedInventory(
  { clock, random, log: parent, metrics }: { clock: Clock; random: Random; log: Log; metrics: Metrics },
  { url, name, timeoutMs }: SharedInventoryOptions,
): SharedInventory {
  const log = parent.child({ redis: name });
  const seconds = metrics.histogram(
    'firmquote_lp_shared_seconds',
    'Time that the shared inventory took to decide about a hold',
    BUCKETS_SECONDS,
  );
  const prefix = `firmquote:{${name}}`;
  const keys: Keys = [
    `${prefix}:meta`,
    `${prefix}:rooms`,
    `${prefix}:sums`,
    `${prefix}:groups`,
    `${prefix}:ids`,
  ];
  const me = random.bytes32().slice(2, 18);
  const listeners: (() => void)[] = [];
  let state: SharedState = { state: 'unreachable', note: 'Redis has not answered yet' };
  let connection = 0;
  let closed = false;
  const seen = new Map<string, SharedSum>();
  const note = (bucket: string, text: string) =>
    void seen.set(bucket, { sum: join(text), atMs: clock.monotonicMs() });

  const redis = new Redis(url, {
    // No command is queued or sent twice.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: timeoutMs,
    connectTimeout: Math.max(1_000, timeoutMs),
    retryStrategy: (times) => Math.min(50 * times, 1_000),
  }) as Redis & Scripts;
  redis.defineCommand('promiseInventory', { numberOfKeys: 5, lua: PROMISE });
  redis.defineCommand('tellInventory', { numberOfKeys: 5, lua: TELL });
  redis.defineCommand('keptInventory', { numberOfKeys: 5, lua: KEPT_HOLDS });
  redis.defineCommand('sumInventory', { numberOfKeys: 5, lua: SUMMED });
  redis.defineCommand('joinInventory', { numberOfKeys: 1, lua: JOIN });

  function become(next: SharedState): void {
    const before = state;
    state = next;
    if (before.state === next.state) return;
    if (next.state === 'ready') log.info({ epoch: next.epoch }, 'the shared inventory is joined');
    else if (!closed)
      log.warn({ note: next.note }, `the shared inventory is ${next.state}: nothing is signed`);
    for (const listener of listeners) listener();
  }

  redis.on('error', () => {});
  redis.on('ready', () => {
    connection += 1;
    become({ state: 'forgotten', note: 'connected anew' });
  });
  redis.on('close', () => {
    connection += 1;
    become({ state: 'unreachable', note: 'Redis cannot be reached' });
  });

  async function ask(
    script: keyof Omit<Scripts, 'joinInventory'>,
    question: object,
  ): Promise<unknown[] | undefined> {
    if (state.state !== 'ready') return undefined;
    const { epoch } = state;
    const asked = connection;
    try {
      const answer = (await redis[script](...keys, JSON.stringify({ ...question, epoch }))) as unknown[];
      if (answer[0] !== 'forgotten') return answer;
      if (asked === connection) become({ state: 'forgotten', note: 'Redis has lost its holds' });
    } catch (error) {
      if (asked === connection) lost(error);
    }
    return undefined;
  }

  function lost(error: unknown): void {
    const note = error instanceof Error ? error.message : String(error);
    become({ state: 'unreachable', note: `Redis does not answer: ${note.slice(0, 100)}` });
    if (!closed) redis.disconnect(true);
  }

  return {
    async join(generation, until) {
      const asked = connection;
      let answer: [epoch: string, until: string];
      try {
        if (redis.status !== 'ready') throw new Error('not connected');
        const info = new Map(
          (await redis.info()).split('\r\n').map((line) => line.split(/:(.*)/s, 2) as [string, string]),
        );
        refuseForgetful(info);
        answer = await redis.joinInventory(
          keys[0],
          `${info.get('run_id')} ${generation}`,
          random.bytes32().slice(2, 34),
          JSON.stringify([...until]),
        );
      } catch (error) {
        if (error instanceof RequestError || error instanceof UpstreamError) throw error;
        throw new UpstreamError(
          'Redis does not answer, so this replica cannot join the shared inventory. Check its URL ' +
            'and that it runs.',
          { code: 'redis_unavailable', cause: error },
        );
      }
      if (asked !== connection)
        throw new UpstreamError(
          'The connection to Redis broke while this replica joined the shared inventory. It will try again.',
          { code: 'redis_unavailable' },
        );
      const [epoch, waits] = answer;
      become({ state: 'ready', epoch });
      return { epoch, until: new Map(JSON.parse(waits) as [number, number][]) };
    },
    async reserve({ group, clockChainId, promises }) {
      const startedMs = clock.monotonicMs();
      const tooMuch = promises.map(
        ({ amount, caps }) => amount > MOST || caps.some((cap) => cap.amount > MOST),
      );
      const p = promises
        .filter((_, at) => tooMuch[at] === false)
        .map(({ orderId, bucket, amount, endsAt, caps }) => ({
          id: orderId,
          e: endsAt,
          a: [
            [bucketKey(bucket), ...split(amount), 0, 0],
            ...caps.map((cap) => [capKey(cap.key), ...split(cap.amount), ...atMost(cap.most)]),
          ],
        }));
      const [first] = promises;
      if (first === undefined) return [];
      const answer = (await ask('promiseInventory', {
        group,
        chain: clockChainId,
        bucket: bucketKey(first.bucket),
        p,
      })) as [string, string[], string] | undefined;
      if (answer === undefined) return undefined;
      seconds.observe((clock.monotonicMs() - startedMs) / 1000);
      note(first.bucket, answer[2]);
      const outcome = answer[1].values();
      return promises.map(({ bucket }, at): Verdict =>
        tooMuch[at] === true
          ? { held: false, why: 'full', key: bucket, room: MOST }
          : verdictOf(outcome.next().value ?? ''),
      );
    },
    async report({ chainId, block, time, rooms, kept, unknownOrders, ended, used }) {
      const answer = await ask('tellInventory', {
        ...{
          by: me,
          chain: chainId,
          block: Number(block),
          time,
          strangers: unknownOrders,
          ended,
          most: MOST_LAPSES,
        },
        rooms: rooms.map(({ bucket, room }) => [bucketKey(bucket), ...atMost(room)]),
        kept: kept.map(({ orderId, group, clockChainId, bucket, amount }) => [
          orderId,
          group,
          clockChainId,
          bucketKey(bucket),
          ...atMost(amount),
        ]),
        used: used.map(({ group, winner }) => [group, winner]),
      });
      if (answer === undefined) return undefined;
      const sums = answer[2] as string[];
      for (const [at, { bucket }] of rooms.entries()) note(bucket, sums[at] ?? '0:0');
      return { more: answer[0] === 'more', known: answer[1] as string[] };
    },
    async kept() {
      const answer = await ask('keptInventory', {});
      return (
        answer &&
        (answer[1] as [string, string, string][]).map(([orderId, group, key]) => ({
          orderId,
          group,
          bucket: key.slice(2),
        }))
      );
    },
    async sums() {
      const answer = await ask('sumInventory', {});
      return answer && new Map(pairs(answer[1] as string[]).map(([key, text]) => [key.slice(2), join(text)]));
    },
    seen: (bucket) => seen.get(bucket),
    state: () => state,
    onState: (listener) => void listeners.push(listener),
    async close() {
      closed = true;
      redis.disconnect();
    },
  };
}

/** A server that evicts keys would drop holds. Without a role or a run id this is no answer of Redis. */
function refuseForgetful(info: ReadonlyMap<string, string>): void {
  const role = info.get('role');
  if (role === undefined || !info.get('run_id'))
    throw new UpstreamError(
      'What answers at the URL of Redis is not Redis, or hides its role or run id from INFO. Check the URL ' +
        'and the server; this replica tries again.',
      { code: 'redis_unavailable' },
    );
  const policy = info.get('maxmemory_policy') ?? 'noeviction';
  if (policy.startsWith('allkeys') && info.get('maxmemory') !== '0') {
    throw new RequestError(
      `Redis evicts keys when its memory is full (maxmemory-policy ${policy}), so holds could get ` +
        'lost. Set maxmemory-policy noeviction.',
      { code: 'bad_config' },
    );
  }
  if (role !== 'master')
    throw new RequestError('This Redis is a read-only replica. Configure the primary instead.', {
      code: 'bad_config',
    });
}

function verdictOf(outcome: string): Verdict {
  if (outcome === 'held') return { held: true };
  if (outcome === 'late') return { held: false, why: 'late' };
  if (outcome === 'unknown') return { held: false, why: 'unknown_bucket' };
  const [, room = '0:0', ...key] = outcome.split(' ');
  return { held: false, why: 'full', key: key.slice(1).join(' '), room: join(room) };
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, at) => [
    flat[2 * at] as string,
    flat[2 * at + 1] as string,
  ]);
}
