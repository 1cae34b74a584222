/**
 * Holds of all replicas of an LP in one Redis. Each call is one script, and names the epoch that was
 * joined, so lost data is noticed before another hold is made.
 */

import { Redis } from 'ioredis';
import { RequestError, UpstreamError } from '../../domain/errors.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Histogram, Metrics } from '../../ports/metrics.ts';
import type { Random } from '../../ports/random.ts';
import type {
  ChainReport,
  SharedHoldGroup,
  SharedInventory,
  SharedState,
  SharedSum,
  Verdict,
} from '../../ports/shared-inventory.ts';
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

/** The connection to Redis, whether this replica has joined, and the sums it was last told. */
interface InventoryState {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly redis: Redis & Scripts;
  readonly keys: Keys;
  /** This process among the replicas. */
  readonly me: string;
  readonly seconds: Histogram;
  readonly listeners: (() => void)[];
  readonly seen: Map<string, SharedSum>;
  joined: SharedState;
  /** Counts connections and their ends, so that an answer of an earlier one is recognised. */
  connection: number;
  closed: boolean;
}

export function createSharedInventory(
  { clock, random, log, metrics }: { clock: Clock; random: Random; log: Log; metrics: Metrics },
  { url, name, timeoutMs }: SharedInventoryOptions,
): SharedInventory {
  const prefix = `firmquote:{${name}}`;
  const state: InventoryState = {
    clock,
    random,
    log: log.child({ redis: name }),
    redis: connect(url, timeoutMs),
    keys: [`${prefix}:meta`, `${prefix}:rooms`, `${prefix}:sums`, `${prefix}:groups`, `${prefix}:ids`],
    me: random.bytes32().slice(2, 18),
    seconds: metrics.histogram(
      'firmquote_lp_shared_seconds',
      'Time that the shared inventory took to decide about a hold',
      BUCKETS_SECONDS,
    ),
    listeners: [],
    seen: new Map(),
    joined: { state: 'unreachable', note: 'Redis has not answered yet' },
    connection: 0,
    closed: false,
  };
  watchConnection(state);

  return {
    join: (generation, until) => joinShared(state, generation, until),
    reserve: (request) => reserve(state, request),
    report: (news) => report(state, news),
    kept: () => kept(state),
    async sums() {
      const answer = await ask(state, 'sumInventory', {});
      return answer && new Map(pairs(answer[1] as string[]).map(([key, text]) => [key.slice(2), join(text)]));
    },
    seen: (bucket) => state.seen.get(bucket),
    state: () => state.joined,
    onState: (listener) => void state.listeners.push(listener),
    async close() {
      state.closed = true;
      state.redis.disconnect();
    },
  };
}

function connect(url: string, timeoutMs: number): Redis & Scripts {
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
  return redis;
}

function watchConnection(state: InventoryState): void {
  state.redis.on('error', () => {});
  state.redis.on('ready', () => {
    state.connection += 1;
    become(state, { state: 'forgotten', note: 'connected anew' });
  });
  state.redis.on('close', () => {
    state.connection += 1;
    become(state, { state: 'unreachable', note: 'Redis cannot be reached' });
  });
}

function become(state: InventoryState, next: SharedState): void {
  const { log } = state;
  const before = state.joined;
  state.joined = next;
  if (before.state === next.state) return;
  if (next.state === 'ready') log.info({ epoch: next.epoch }, 'the shared inventory is joined');
  else if (!state.closed)
    log.warn({ note: next.note }, `the shared inventory is ${next.state}: nothing is signed`);
  for (const listener of state.listeners) listener();
}

async function joinShared(
  state: InventoryState,
  generation: string,
  until: ReadonlyMap<number, UnixSeconds>,
): ReturnType<SharedInventory['join']> {
  const { redis } = state;
  const asked = state.connection;
  let answer: [epoch: string, until: string];
  try {
    if (redis.status !== 'ready') throw new Error('not connected');
    const info = new Map(
      (await redis.info()).split('\r\n').map((line) => line.split(/:(.*)/s, 2) as [string, string]),
    );
    refuseForgetful(info);
    answer = await redis.joinInventory(
      state.keys[0],
      `${info.get('run_id')} ${generation}`,
      state.random.bytes32().slice(2, 34),
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
  if (asked !== state.connection)
    throw new UpstreamError(
      'The connection to Redis broke while this replica joined the shared inventory. It will try again.',
      { code: 'redis_unavailable' },
    );
  const [epoch, waits] = answer;
  become(state, { state: 'ready', epoch });
  return { epoch, until: new Map(JSON.parse(waits) as [number, number][]) };
}

async function reserve(
  state: InventoryState,
  { group, clockChainId, promises }: SharedHoldGroup,
): Promise<readonly Verdict[] | undefined> {
  const { clock } = state;
  const startedMs = clock.monotonicMs();
  const tooMuch = promises.map(({ amount, caps }) => amount > MOST || caps.some((cap) => cap.amount > MOST));
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
  const answer = (await ask(state, 'promiseInventory', {
    group,
    chain: clockChainId,
    bucket: bucketKey(first.bucket),
    p,
  })) as [string, string[], string] | undefined;
  if (answer === undefined) return undefined;
  state.seconds.observe((clock.monotonicMs() - startedMs) / 1000);
  note(state, first.bucket, answer[2]);
  const outcome = answer[1].values();
  return promises.map(({ bucket }, at): Verdict =>
    tooMuch[at] === true
      ? { held: false, why: 'full', key: bucket, room: MOST }
      : verdictOf(outcome.next().value ?? ''),
  );
}

async function report(
  state: InventoryState,
  { chainId, block, time, rooms, kept, unknownOrders, ended, used }: ChainReport,
): ReturnType<SharedInventory['report']> {
  const answer = await ask(state, 'tellInventory', {
    ...{
      by: state.me,
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
  for (const [at, { bucket }] of rooms.entries()) note(state, bucket, sums[at] ?? '0:0');
  return { more: answer[0] === 'more', known: answer[1] as string[] };
}

async function kept(state: InventoryState): ReturnType<SharedInventory['kept']> {
  const answer = await ask(state, 'keptInventory', {});
  return (
    answer &&
    (answer[1] as [string, string, string][]).map(([orderId, group, key]) => ({
      orderId,
      group,
      bucket: key.slice(2),
    }))
  );
}

/** Runs a script in the joined epoch. undefined: Redis has lost its holds or does not answer. */
async function ask(
  state: InventoryState,
  script: keyof Omit<Scripts, 'joinInventory'>,
  question: object,
): Promise<unknown[] | undefined> {
  const { redis, keys, joined } = state;
  if (joined.state !== 'ready') return undefined;
  const { epoch } = joined;
  const asked = state.connection;
  try {
    const answer = (await redis[script](...keys, JSON.stringify({ ...question, epoch }))) as unknown[];
    if (answer[0] !== 'forgotten') return answer;
    if (asked === state.connection) become(state, { state: 'forgotten', note: 'Redis has lost its holds' });
  } catch (error) {
    if (asked === state.connection) lost(state, error);
  }
  return undefined;
}

function lost(state: InventoryState, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  become(state, { state: 'unreachable', note: `Redis does not answer: ${reason.slice(0, 100)}` });
  if (!state.closed) state.redis.disconnect(true);
}

function note({ seen, clock }: InventoryState, bucket: string, text: string): void {
  seen.set(bucket, { sum: join(text), atMs: clock.monotonicMs() });
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
