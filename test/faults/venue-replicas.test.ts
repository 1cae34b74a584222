/**
 * Two api replicas and two workers on PostgreSQL and Redis. Whichever dies, stops or loses its memory, no
 * order is lost or doubled.
 */

import { mkdtemp, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAdminStore } from '../../src/adapters/postgres/venue/admin-store.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import type { HttpAnswer } from '../../src/apps/demo/taker.ts';
import { parseSeal } from '../../src/protocol/seal-wire.ts';
import { createAdmin } from '../../src/venue/admin/admin.ts';
import { type Balancer, startBalancer } from '../support/replicas.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import type { TestAccount } from '../support/devnet.ts';
import type { Seeded } from '../kill/seeded.ts';
import { diceOf } from './seed.ts';
import { broken, sceneOf } from './support/checker.ts';
import { type Client, createClient, patiently, type Prepared, someUsdc } from './support/client.ts';
import { startTcpProxy, type TcpProxy } from './support/tcp-proxy.ts';
import { type Config, startWorld, type World } from './support/world.ts';

let folder: string;
let redis: TestRedis;
let cable: TcpProxy;
let w: World;
let balancer: Balancer;
let wallet: TestAccount;
let client: Client;
let seals: object[] = [{ id: 'k1', secret: { env: 'SEAL' } }];
let keys = 0;
/** A second seal key, for the rotation. */
const SEAL_2 = { SEAL_2: 'cd'.repeat(32) };

/** Five or six processes start in turn, also on a machine ten times slower. */
const RESTARTS_MS = 400_000;

const workers = () => [w.venue('x'), w.venue('y')];
const apis = () => [w.venue('a'), w.venue('b')];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmquote-redis-'));
  redis = await startRedis({ folder });
  cable = await startTcpProxy(redis.url);
  w = await startWorld({
    venues: { a: 'api', b: 'api', x: 'worker', y: 'worker' },
    validitySeconds: 300,
    configure: (_part, config) =>
      config['app'] === 'venue'
        ? {
            ...config,
            queue: { redisUrl: cable.url },
            fanOut: { timeoutMs: 10_000 },
            keys: { ...(config['keys'] as Config), seals },
          }
        : config,
  });
  await w.startAll();
  balancer = await startBalancer([w.venueUrl('a'), w.venueUrl('b')]);
  ({ wallet } = await w.client());
  client = at(balancer.url);
});
afterAll(async () => {
  await balancer?.stop();
  await w?.stop();
  await cable?.stop();
  await redis?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The one taker, at a replica or at the load balancer. */
const at = (venueUrl: string, apiKey = w.apiKey): Client =>
  createClient({ wallet, venueUrl, apiKey, chains: w.devnet.chains, log: w.log });

/** Submits under its own key until the venue gives a definite answer. Returns the order's id. */
async function submitted(prepared: Prepared, by = client, key = `replicas-${keys++}`): Promise<string> {
  const id = await by.insist(prepared, key);
  if (id === undefined) throw new Error(`The venue refused an order: ${JSON.stringify(w.log.at(-1))}`);
  return id;
}
const shuffled = <T>(dice: Seeded, items: readonly T[]): T[] =>
  items
    .map((item) => ({ item, at: dice.next() }))
    .toSorted((x, y) => x.at - y.at)
    .map(({ item }) => item);
const prepare = (count: number, dice: Seeded, by = client): Promise<Prepared[]> =>
  Promise.all(Array.from({ length: count }, () => by.prepare({ usdc: someUsdc(dice) })));

/** Every order settled, and the checker reports nothing. */
async function settled(ids: readonly string[]): Promise<void> {
  for (const id of ids) expect((await client.ended(id)).status).toBe('settled');
  expect(await broken(sceneOf(w), { ended: true })).toEqual([]);
}

/** Redis loses its last writes, as after a power cut, and restarts with older data. */
async function loseTail(): Promise<void> {
  const log = join(folder, 'appendonlydir', 'appendonly.aof.1.incr.aof');
  await truncate(log, Math.floor((await stat(log)).size / 2));
}

test('F10: Redis is emptied, killed and restored with old data under load: every accepted order settles', async () => {
  const dice = diceOf('F10');
  const trades = await prepare(8, dice);
  // Only Redis has these, and it forgets them.
  await Promise.all(workers().map((worker) => worker.kill()));
  const ids = await Promise.all(trades.slice(0, 3).map((trade) => submitted(trade)));
  redis.flush();
  await Promise.all(workers().map((worker) => worker.start(SEAL_2)));
  const again = async (lose: () => Promise<unknown>) => {
    await redis.kill();
    await lose();
    // Submitted while Redis is down.
    ids.push(await submitted(trades[ids.length] as Prepared));
    redis = await startRedis({ port: redis.port, folder });
  };
  const losses = [
    async () => redis.flush(),
    () => again(() => rm(join(folder, 'appendonlydir'), { recursive: true })),
    () => again(loseTail),
  ];
  for (const loss of shuffled(dice, losses)) {
    await loss();
    ids.push(await submitted(trades[ids.length] as Prepared));
  }
  await settled(ids);
});

test('F11: Redis does not answer: submissions commit, and workers start, work and stop without it', async () => {
  const dice = diceOf('F11');
  const [first, ...more] = await prepare(3, dice);
  cable.set(dice.next() < 0.5 ? { kind: 'blackhole' } : { kind: 'half_open', stopped: 'down' });
  try {
    // One answer without retry: the row exists when the answer is 200.
    const answer = await client.submit(first as Prepared, 'blackhole');
    expect(answer?.status).toBe(200);
    const { id } = (answer as HttpAnswer).json as { id: string };
    expect(await w.store.order(id as `0x${string}`)).toBeDefined();
    // Exit status 0 means within ten seconds; a slower stop exits with 1.
    expect(await w.venue('x').stop()).toBe(0);
    await w.venue('x').start(SEAL_2, 'ready');
    expect(await w.venue('y').stop()).toBe(0);
    await settled([id, ...(await Promise.all(more.map((trade) => submitted(trade))))]);
  } finally {
    cable.set({ kind: 'pass' });
  }
  await w.venue('y').start(SEAL_2, 'ready');
});

interface Heard {
  cursor: string | undefined;
  events: { orderId: string; seq: number; type: string }[];
  codes: number[];
  /** Why a replica refused the stream. */
  refusals: string[];
  /** Stops or resumes reading. */
  pause(): void;
  resume(): void;
  stop(): void;
}

/** Reads the workspace's order events from one replica after the other, each time from its last cursor. */
function listen(urls: () => string): Heard {
  let stopped = false;
  let socket: WebSocket;
  const heard: Heard = {
    cursor: undefined,
    events: [],
    codes: [],
    refusals: [],
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    stop() {
      stopped = true;
      socket.terminate();
    },
  };
  const dial = () => {
    const current = new WebSocket(`${urls().replace('http', 'ws')}/api/v1/ws`, {
      headers: { 'X-API-Key': w.apiKey },
      handshakeTimeout: 5_000,
    });
    socket = current;
    current.on('open', () =>
      current.send(
        JSON.stringify({
          op: 'subscribe',
          topics: ['orders'],
          ...(heard.cursor !== undefined && { since: heard.cursor }),
        }),
      ),
    );
    current.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as {
        op?: string;
        cursor?: string;
        orderId: string;
        seq: number;
        type: string;
      };
      if (frame.op === 'subscribed') heard.cursor ??= frame.cursor;
      if (frame.op === 'error') {
        // A replica that has just started answers that it is too busy, so the client retries.
        heard.refusals.push(data.toString());
        return current.close();
      }
      if (frame.op !== undefined) return;
      heard.cursor = frame.cursor;
      heard.events.push({ orderId: frame.orderId, seq: frame.seq, type: frame.type });
    });
    current.on('error', () => {});
    current.on('close', (code) => {
      heard.codes.push(code);
      if (!stopped) setTimeout(dial, 50);
    });
  };
  dial();
  return heard;
}

const ofThese = ({ events }: Heard, ids: readonly string[]) =>
  events.filter(({ orderId }) => ids.includes(orderId));

test('F36: replicas die, a client reads slowly and a connection is half open: each client gets every event once, in order, and polling agrees', async () => {
  const dice = diceOf('F36');
  const half = await startTcpProxy(w.venueUrl('a'));
  // One client is moved between replicas, two use any replica and one of them reads slowly, one has a bad
  // connection and gives up on it.
  let way = w.venueUrl('a');
  let behind = half.url;
  const slow = listen(() => balancer.url);
  const listeners = [listen(() => way), listen(() => balancer.url), listen(() => behind), slow];
  try {
    await patiently(async () => listeners.every(({ cursor }) => cursor !== undefined) || undefined);
    const trades = await prepare(5, dice);
    const ids: string[] = [];
    for (const [index, trade] of trades.entries()) {
      if (index === 1) half.set({ kind: 'half_open', stopped: 'down' });
      if (index === 1) slow.pause();
      if (index === 2) {
        await w.venue('a').kill();
        way = w.venueUrl('b');
      }
      if (index === 3) await w.venue('a').start(SEAL_2, 'ready');
      if (index === 4 && dice.next() < 0.5) {
        await w.venue('b').kill();
        way = w.venueUrl('a');
        await w.venue('b').start(SEAL_2, 'ready');
      }
      ids.push(await submitted(trade));
    }
    await settled(ids);
    slow.resume();
    behind = w.venueUrl('b');
    half.cut();
    for (const heard of listeners) {
      await patiently(
        async () => ofThese(heard, ids).length >= ids.length * 2 || undefined,
        () =>
          `a listener heard ${JSON.stringify(ofThese(heard, ids))} of ${ids.join(', ')}; its connections ended with ${heard.codes.join(', ')}; refusals: ${heard.refusals.join(' ')}`,
      );
      for (const id of ids)
        expect(ofThese(heard, [id])).toEqual([
          { orderId: id, seq: 1, type: 'order.created' },
          { orderId: id, seq: 2, type: 'order.settled' },
        ]);
    }
    // Every replica answers as the stream did.
    for (const name of ['a', 'b'])
      for (const id of ids) expect((await at(w.venueUrl(name)).ended(id)).status).toBe('settled');
  } finally {
    for (const heard of listeners) heard.stop();
    await half.stop();
  }
});

test(
  'F37: a rolling restart under load loses and doubles nothing, each process stops in time, and streams resume elsewhere',
  async () => {
    const dice = diceOf('F37');
    const heard = listen(() => balancer.url);
    try {
      await patiently(async () => heard.cursor !== undefined || undefined);
      const all = [...apis(), ...workers()];
      const ids: string[] = [];
      let restarting = true;
      /** Trades as long as a process restarts, and at least this often. */
      const trading = async () => {
        for (let done = 0; restarting || done < 3; done++) {
          ids.push(await submitted(await client.prepare({ usdc: 100n })));
          await new Promise((resolve) => setTimeout(resolve, 1_000));
        }
      };
      const rolling = async () => {
        try {
          // Each process once, and one of them twice, as for a release that is rolled back.
          for (const part of [...shuffled(dice, all), ...shuffled(dice, all).slice(0, 1)]) {
            // Its own watchdog allows ten seconds; 1 would mean too late.
            expect(await part.stop(), part.name).toBe(0);
            await part.start(SEAL_2, 'ready');
          }
        } finally {
          restarting = false;
        }
      };
      await Promise.all([rolling(), trading(), trading()]);
      await settled(ids);
      await patiently(
        async () => ofThese(heard, ids).length >= ids.length * 2 || undefined,
        () =>
          `the listener heard ${heard.events.length} events of ${ids.length} orders; its connections ended with ${heard.codes.join(', ')}; refusals: ${heard.refusals.join(' ')}`,
      );
      for (const id of ids)
        expect(ofThese(heard, [id])).toEqual([
          { orderId: id, seq: 1, type: 'order.created' },
          { orderId: id, seq: 2, type: 'order.settled' },
        ]);
      // Both api replicas restarted, and this client was connected to one of them at least once.
      expect(heard.codes).toContain(1012);
    } finally {
      heard.stop();
    }
  },
  RESTARTS_MS,
);

test(
  "F39: seal and API key rotate while quotes are live: every replica accepts the old seal until it lapses, and orders made with the old key stay the workspace's",
  async () => {
    const dice = diceOf('F39');
    const admin = createAdmin({
      store: createAdminStore(w.database),
      venue: w.store,
      clock: systemClock,
      random: systemRandom,
      feeCaps: async () => [],
    });
    const { text, key } = await admin.keys.issue('test', {
      kind: 'service',
      mode: 'test',
      workspaceId: 'w1',
      label: 'to be rotated',
    });
    const before = at(balancer.url, text);
    const [taken, toA, toB, late] = (await prepare(4, dice, before)) as [
      Prepared,
      Prepared,
      Prepared,
      Prepared,
    ];
    const first = await submitted(taken, before, 'rotated');
    const ids = [first];

    await admin.keys.revoke('test', key.id);
    for (const name of ['a', 'b'])
      await expect
        .poll(
          async () =>
            (await at(w.venueUrl(name), text).taker.call('GET', `/api/v1/rfq/orders/${first}`)).status,
        )
        .toBe(401);

    const kidsOf = (prepared: readonly Prepared[]) =>
      prepared.map(({ candidate }) => parseSeal(candidate.integrityChecksum)?.kid);
    /** Quoted by each replica, submitted to the other. */
    const crossed = async (): Promise<Prepared[]> => {
      const [a, b] = [at(w.venueUrl('a')), at(w.venueUrl('b'))];
      const [byA, byB] = [await a.prepare(), await b.prepare()];
      ids.push(await submitted(byA, b), await submitted(byB, a));
      return [byA, byB];
    };
    const rolling = async (next: object[], between: () => Promise<unknown> = async () => {}) => {
      seals = next;
      const [one, other] = shuffled(dice, apis());
      for (const api of [one, other]) {
        expect(await api?.stop()).toBe(0);
        await api?.start(SEAL_2, 'ready');
        if (api === one) await between();
      }
    };
    const k1 = { id: 'k1', secret: { env: 'SEAL' } };
    const k2 = { id: 'k2', secret: { env: 'SEAL_2' } };
    // Every replica accepts the new key before any seals with it, so no replica seals what another cannot
    // open.
    await rolling([k1, k2]);
    await rolling(
      [k2, { ...k1, acceptUntil: Math.max(...[toA, toB].map(({ candidate }) => candidate.validUntil)) }],
      async () => expect(kidsOf(await crossed()).toSorted()).toEqual(['k1', 'k2']),
    );
    expect(kidsOf([toA, toB, ...(await crossed())])).toEqual(['k1', 'k1', 'k2', 'k2']);
    ids.push(await submitted(toA, at(w.venueUrl('a'))), await submitted(toB, at(w.venueUrl('b'))));

    // The old key has lapsed.
    await rolling([k2, { ...k1, acceptUntil: 1 }]);
    for (const name of ['a', 'b']) {
      const there = at(w.venueUrl(name));
      const refused = await there.submit(late, `late-${name}`);
      expect([refused?.status, refused?.json]).toEqual([
        422,
        { detail: [expect.objectContaining({ type: 'integrity_mismatch' })] },
      ]);
      // An order made with the old key still exists.
      expect(await submitted(taken, there, 'rotated')).toBe(first);
    }
    await settled(ids);
  },
  RESTARTS_MS,
);
