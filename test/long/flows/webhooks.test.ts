/**
 * Webhooks from the workspace's side: created over the API, delivered by workers over a real queue to a real
 * receiver, verified with the `standardwebhooks` package. Laws first, then stories, then faults.
 */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { createBullQueue } from '../../../src/adapters/bullmq/queue.ts';
import { createWebhookPoster } from '../../../src/adapters/outbound/webhooks.ts';
import { createPostgresBus } from '../../../src/adapters/postgres/bus.ts';
import { connectDatabase } from '../../../src/adapters/postgres/pool.ts';
import { createVenueStore } from '../../../src/adapters/postgres/venue/venue-store.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import type { Bytes32 } from '../../../src/domain/hex.ts';
import type { Queue } from '../../../src/ports/queue.ts';
import { zOrderEvent, zSolverEvent } from '../../../src/protocol/api/events.ts';
import { createWebhookCourier } from '../../../src/venue/webhooks/deliver.ts';
import { createWebhookFanOut } from '../../../src/venue/webhooks/fan-out.ts';
import { WEBHOOKS, type WebhookOptions } from '../../../src/venue/options.ts';
import { createVault } from '../../../src/venue/webhooks/vault.ts';
import { startTcpProxy } from '../../faults/support/tcp-proxy.ts';
import { account } from '../../support/devnet.ts';
import { silentLog, silentMetrics } from '../../support/silent.ts';
import { startSolver } from '../../support/solver.ts';
import { makeTrade } from '../../support/trade.ts';
import { type Answer, type Json, startTestVenue, type TestVenue, until } from '../../support/venue.ts';
import { type Received, type Receiver, startReceiver } from '../../support/webhook-receiver.ts';

let v: TestVenue;
let receiver: Receiver;
let admin: string;
const taker = account(31);
const lps = [{ account: account(32) }];
const stops: (() => Promise<void>)[] = [];

const queueOn = (url: string) =>
  createBullQueue({ connection: { kind: 'postgres', url, schema: 'venue_queue' }, log: silentLog });
const KEYS = [{ id: 'w1', secret: Buffer.alloc(32, 8) }];

beforeAll(async () => {
  receiver = await startReceiver();
  v = await startTestVenue({ queue: queueOn, webhooks: { maxEndpoints: 60 } });
  admin = await v.key('workspace');
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});
afterAll(async () => {
  await v.stop();
  await receiver.stop();
});

/** Wake-ups that were asked for with a delay, and when each is due. */
const later: { id: string; delayMs: number; dueAtMs: number }[] = [];
const countingLater = (queue: Queue): Queue => ({
  ...queue,
  wake(topic, id, delayMs = 0) {
    if (delayMs > 0) later.push({ id, delayMs, dueAtMs: Date.now() + delayMs });
    return queue.wake(topic, id, delayMs);
  },
});

/** A worker of its own: connections, queue and leases. */
async function worker(
  change: Partial<WebhookOptions> & { allowPrivate?: boolean } = {},
): Promise<{ stop(): Promise<void> }> {
  const { allowPrivate = true, ...own } = change;
  const options = { ...WEBHOOKS, firstRetryMs: 50, timeoutMs: 5_000, sweepMs: 100, ...own };
  const db = connectDatabase({ url: v.databaseUrl, schema: v.db.schema, log: silentLog });
  const store = createVenueStore(db);
  const bus = createPostgresBus(db, silentLog);
  const queue = countingLater(queueOn(v.databaseUrl));
  const poster = createWebhookPoster({ allowPrivate, allowHttp: true, timeoutMs: options.timeoutMs });
  const vault = createVault(KEYS);
  if (!vault) throw new Error('no key');
  const tools = { clock: systemClock, log: silentLog, metrics: silentMetrics };
  const courier = createWebhookCourier({ ...tools, store: store.webhooks, poster, vault, queue }, options);
  const chains = new Map(v.devnet.chains.map(({ chain }) => [chain.id, chain]));
  const fanOut = createWebhookFanOut(
    { ...tools, store, bus, chains, onDeliveries: (ids) => courier.wake(ids) },
    options,
  );
  await fanOut.start();
  await courier.start();
  let stopped = false;
  const made = {
    async stop() {
      if (stopped) return;
      stopped = true;
      await fanOut.stop();
      await courier.stop();
      await queue.close();
      poster.close();
      await bus.close();
      await db.close();
    },
  };
  stops.push(made.stop);
  return made;
}

let orders = 0;
/** An order, accepted as a submission would be. */
async function accepted(workspaceId = 'w1', mode: 'test' | 'live' = 'test'): Promise<Bytes32> {
  orders += 1;
  const trade = {
    ...makeTrade({ origin: v.chain, taker, lps }),
    workspaceId,
    mode,
    referenceId: `r${orders}`,
  };
  const { kind } = await v.store.accept(trade, '{}', null);
  if (kind !== 'accepted') throw new Error(kind);
  return trade.orderId;
}

async function failed(orderId: Bytes32): Promise<void> {
  const [claim] = await v.store.claim([orderId], `w-${orderId}`, 10_000);
  const record = await v.store.order(orderId);
  if (!claim || !record) throw new Error('not claimed');
  const failure = { code: 'not_opened', message: 'The order was not opened.' } as const;
  const outcome = { status: 'failed', final: true, event: 'order.failed', atMs: Date.now() } as const;
  if (!(await v.store.append(claim, record, [{ kind: 'failed', failure }], outcome)))
    throw new Error('not appended');
}

const BASE = '/api/v1/workspaces/w1/webhooks';
let paths = 0;
const newPath = () => `/hook-${(paths += 1)}`;

interface Hook {
  id: string;
  secret: string;
  path: string;
  received(): Received[];
  call(method: string, rest?: string, body?: unknown): Promise<Answer>;
  deliveries(query?: string): Promise<Json[]>;
}

async function hook(more: object = {}, { key = admin, base = BASE } = {}): Promise<Hook> {
  const path = newPath();
  const { status, json, text } = await v.call('POST', base, {
    key,
    body: { url: receiver.url(path), ...more },
  });
  expect(status, text).toBe(200);
  const id = json['webhook']?.['id'] as unknown as string;
  const call = (method: string, rest = '', body?: unknown) =>
    v.call(method, `${base}/${id}${rest}`, { key, ...(body !== undefined && { body }) });
  return {
    id,
    secret: json['secret'] as unknown as string,
    path,
    received: () => receiver.received(path),
    call,
    deliveries: async (query = '') =>
      (await call('GET', `/deliveries${query}`)).json['deliveries'] as unknown as Json[],
  };
}

const verified = ({ body, headers }: Received, secret: string): Json =>
  new Webhook(secret).verify(body, headers) as Json;
const idsOf = (received: readonly Received[]) => received.map(({ headers }) => headers['webhook-id']);

describe('laws', () => {
  test('every event reaches the endpoint, signed, with the payload of the stream', async () => {
    await worker();
    const one = await hook({ description: 'books' });
    const orderId = await accepted();
    await failed(orderId);
    await until(() => one.received().length >= 2);
    const events = one.received().map((received) => verified(received, one.secret));
    expect(events.map((event) => zOrderEvent.parse(event)).map(({ type, seq }) => [type, seq])).toEqual([
      ['order.created', 1],
      ['order.failed', 2],
    ]);
    expect(events[0]).toMatchObject({ topic: 'orders', orderId, data: { id: orderId, status: 'pending' } });
    expect(events[1]).toMatchObject({ data: { status: 'failed', failure: { code: 'not_opened' } } });
    const [last] = await v.store.eventsAfter(Number(events[0]?.['cursor']), 1);
    expect(String(last?.place)).toBe(events[1]?.['cursor']);
    expect(new Set(idsOf(one.received())).size).toBe(2);
    for (const { headers, body } of one.received()) {
      const wrong = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
      expect(() => new Webhook(wrong).verify(body, headers)).toThrow();
      expect(() => new Webhook(one.secret).verify(`${body} `, headers)).toThrow();
      expect(() => new Webhook(one.secret).verify(body, { ...headers, 'webhook-id': 'msg_x' })).toThrow();
    }
  });

  test('two workers and many orders: each event once, with one id, whatever wake-ups are lost', async () => {
    const one = await hook();
    await Promise.all([worker(), worker()]);
    const made = await Promise.all(Array.from({ length: 12 }, () => accepted()));
    await Promise.all(made.map(failed));
    await until(() => one.received().length >= 24);
    await until(async () => (await one.deliveries('?state=waiting')).length === 0);
    const events = one.received().map(({ json }) => `${String(json['orderId'])} ${String(json['seq'])}`);
    expect(events.toSorted()).toEqual(made.flatMap((id) => [`${id} 1`, `${id} 2`]).toSorted());
    expect(new Set(idsOf(one.received())).size).toBe(24);
  });

  test('events that happen while no worker runs are delivered by the next one; older ones never', async () => {
    const before = await accepted();
    const one = await hook();
    const after = await accepted();
    await worker();
    await until(() => one.received().length > 0);
    await until(async () => (await one.deliveries('?state=waiting')).length === 0);
    expect(one.received().map(({ json }) => json['orderId'])).toEqual([after]);
    expect(before).not.toBe(after);
  });

  test('an endpoint gets the events it chose, of its workspace and mode', async () => {
    await worker();
    await v.workspace('w2');
    const elsewhere = await v.key('workspace', { workspaceId: 'w2' });
    const live = await v.key('workspace', { mode: 'live' });
    const [all, failures, other, real] = await Promise.all([
      hook(),
      hook({ events: ['order.failed'] }),
      hook({}, { key: elsewhere, base: '/api/v1/workspaces/w2/webhooks' }),
      hook({}, { key: live }),
    ]);
    const [here, there, mainnet] = [await accepted(), await accepted('w2'), await accepted('w1', 'live')];
    await failed(here);
    const seen = (one: Hook) =>
      one.received().map(({ json }) => `${String(json['type'])} ${String(json['orderId'])}`);
    await until(() => [all, failures, other, real].every((one) => one.received().length > 0));
    await until(() => all.received().length === 2);
    expect(seen(all).toSorted()).toEqual([`order.created ${here}`, `order.failed ${here}`]);
    expect(seen(failures)).toEqual([`order.failed ${here}`]);
    expect(seen(other)).toEqual([`order.created ${there}`]);
    expect(seen(real)).toEqual([`order.created ${mainnet}`]);
  });

  test('a change of the roster is delivered once, though two replicas see it', async () => {
    await worker();
    const replica = await v.replica();
    stops.push(() => replica.stop());
    await v.workspace('w3', { eligibleSolvers: ['somebody-else'] });
    const narrow = await v.key('workspace', { workspaceId: 'w3' });
    const one = await hook({ events: ['solver.changed'] });
    const none = await hook(
      { events: ['solver.changed'] },
      { key: narrow, base: '/api/v1/workspaces/w3/webhooks' },
    );
    const solver = await v.solver(77, () => undefined);
    await v.agree([replica]);
    await until(() => one.received().some(({ json }) => json['data']?.['status'] === 'active'));
    await solver.stop();
    await until(() => one.received().some(({ json }) => json['data']?.['status'] === 'offline'));
    const events = one.received().map((received) => zSolverEvent.parse(verified(received, one.secret)));
    const statuses = events
      .toSorted((a, b) => (a.occurredAt < b.occurredAt ? -1 : 1))
      .map(({ data }) => data.status);
    // A solver that connects is in standby until it says that it prices. On a busy machine it may have to
    // connect again: then there are more changes, and each is one.
    expect([statuses.slice(0, 2), statuses.at(-1)]).toEqual([['standby', 'active'], 'offline']);
    expect(statuses.filter((status, n) => status === statuses[n + 1])).toEqual([]);
    expect(new Set(idsOf(one.received())).size).toBe(statuses.length);
    expect(none.received()).toEqual([]);
  });

  test('a replica falls silent: another one tells that its solver is offline', async () => {
    await worker();
    const proxy = await startTcpProxy(v.databaseUrl);
    const replica = await v.replica({}, { url: proxy.url });
    stops.push(
      async () => proxy.set({ kind: 'pass' }),
      () => replica.stop(),
      () => proxy.stop(),
    );
    const known = await v.solver(78, () => undefined);
    await known.stop();
    await v.agree([replica]);
    const one = await hook({ events: ['solver.changed'] });
    const { id, apiKey, operator } = known;
    const solver = await startSolver(replica.url, {
      ...{ id, apiKey, operator, lp: known.lp.address, chains: [v.chain.chain], answer: () => undefined },
      ...{ corridors: [`${v.chain.chain.slug}-${v.chain.chain.slug}`], now: () => 0 },
    });
    stops.push(() => solver.stop());
    await until(() => one.received().some(({ json }) => json['data']?.['status'] === 'active'));
    proxy.set({ kind: 'reset' });
    await until(() => one.received().some(({ json }) => json['data']?.['status'] === 'offline'));
    expect(new Set(idsOf(one.received())).size).toBe(one.received().length);
  });
});

describe('receivers that fail', () => {
  /** Whatever goes wrong, the same delivery comes again with the same id and body. */
  async function failsOnce(
    how: Parameters<Receiver['answer']>[1],
    change: Partial<WebhookOptions> = {},
  ): Promise<{ attempts: Json[]; received: Received[] }> {
    await worker(change);
    const one = await hook();
    receiver.answer(one.path, how);
    await accepted();
    await until(() => one.received().length > 0);
    await until(async () => (await one.deliveries())[0]?.['lastFailure'] ?? false);
    receiver.answer(one.path, undefined);
    await until(async () => (await one.deliveries('?state=delivered')).length === 1);
    const [{ id } = { id: '' }] = (await one.deliveries()) as unknown as { id: string }[];
    const detail = (await one.call('GET', `/deliveries/${id}`)).json;
    const received = one.received();
    expect(new Set(idsOf(received))).toEqual(new Set([id]));
    expect(new Set(received.map(({ body }) => body))).toEqual(new Set([detail['body']]));
    for (const each of received) verified(each, one.secret);
    const attempts = detail['log'] as unknown as Json[];
    expect(attempts.map((each) => each['attempt'])).toEqual(attempts.map((_, index) => index + 1));
    expect(attempts.at(-1)).toMatchObject({ status: 204, failure: null });
    return { attempts, received };
  }

  test.each<[string, Parameters<Receiver['answer']>[1], number | null, RegExp]>([
    ['500', (response) => response.writeHead(500).end(), 500, /status 500/],
    [
      'a redirect',
      (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
      302,
      /not followed/,
    ],
    ['a reset connection', (_, request) => void request.socket.resetAndDestroy(), null, /ECONNRESET/],
    ['an answer that is no HTTP', (_, { socket }) => void socket.end('hello\r\n\r\n'), null, /no connection/],
    [
      'an answer that breaks off',
      (response) => {
        response.writeHead(200, { 'content-length': '100' }).write('half');
        setTimeout(() => response.destroy(), 20);
      },
      null,
      /connection broke/,
    ],
  ])('%s', async (_, how, status, why) => {
    const { attempts } = await failsOnce(how);
    expect(attempts[0]).toMatchObject({ status, failure: expect.stringMatching(why) });
  });

  test('no answer in time, and an answer that never ends', async () => {
    const { attempts } = await failsOnce(() => {}, { timeoutMs: 200 });
    expect(attempts[0]).toMatchObject({
      status: null,
      failure: expect.stringMatching(/no answer within 200 ms/),
    });
    const endless = await failsOnce((response) => void response.writeHead(200).write('.'), {
      timeoutMs: 200,
    });
    expect(endless.attempts[0]).toMatchObject({ failure: expect.stringMatching(/no answer within 200 ms/) });
  });

  test('429 with Retry-After: the whole endpoint waits, others do not', async () => {
    await worker();
    const [busy, other] = [await hook(), await hook()];
    receiver.answer(busy.path, (response) => response.writeHead(429, { 'retry-after': '3' }).end());
    await accepted();
    await until(async () => (await busy.deliveries())[0]?.['lastFailure'] ?? false);
    receiver.answer(busy.path, undefined);
    await accepted();
    await until(() => other.received().length === 2);
    const [later, first] = await busy.deliveries();
    expect(busy.received()).toHaveLength(1);
    expect(first).toMatchObject({ state: 'waiting', lastFailure: 'It answered with status 429.' });
    expect(later).toMatchObject({ state: 'waiting', attempts: 0 });
    await until(() => busy.received().length === 3);
    const sent = (busy.received().slice(1) as Received[]).map(({ headers }) =>
      Number(headers['webhook-timestamp']),
    );
    const refused = Number(busy.received()[0]?.headers['webhook-timestamp']);
    for (const at of sent) expect(at - refused).toBeGreaterThanOrEqual(2);
  });

  test('a huge answer is not read to its end; its 2xx counts', async () => {
    await worker();
    const one = await hook();
    let written = 0;
    receiver.answer(one.path, (response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && written < 1 << 30) {
          written += 65_536;
          if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', more);
        }
      };
      more();
    });
    await accepted();
    await until(async () => (await one.deliveries('?state=delivered')).length === 1);
    expect(one.received()).toHaveLength(1);
    expect(written).toBeLessThan(1 << 26);
  });

  test('a delivery is given up after its day, and its endpoint disabled after a day of failures', async () => {
    await worker({ giveUpAfterMs: 1_500, disableAfterMs: 1_500, firstRetryMs: 100, longestRetryMs: 400 });
    const [one, healthy] = [await hook(), await hook()];
    receiver.answer(one.path, (response) => response.writeHead(410).end());
    await accepted();
    await until(async () => (await one.call('GET')).json['enabled'] === (false as never));
    const view = (await one.call('GET')).json;
    expect(view['disabled']?.['reason']).toMatch(/^Every attempt failed from .* status 410\./);
    const [given] = await one.deliveries();
    expect(given).toMatchObject({
      state: 'failed',
      nextAttemptAt: null,
      lastFailure: 'It answered with status 410.',
    });
    const tries = one.received().length;
    expect(tries).toBeGreaterThan(2);
    await accepted();
    await until(() => healthy.received().length === 2);
    expect(one.received()).toHaveLength(tries);
    expect((await healthy.call('GET')).json).toMatchObject({ enabled: true, failingSince: null });
    // A resend needs an endpoint that is enabled.
    const resend = () => one.call('POST', `/deliveries/${String(given?.['id'])}/resend`);
    expect((await resend()).status).toBe(409);
    receiver.answer(one.path, undefined);
    expect((await one.call('PATCH', '', { enabled: true })).json).toMatchObject({
      enabled: true,
      disabled: null,
    });
    expect((await resend()).status).toBe(200);
    await until(async () => (await one.deliveries('?state=delivered')).length === 1);
    expect(new Set(idsOf(one.received()))).toEqual(new Set([given?.['id']]));
  });

  test('a receiver that does not answer holds up no other one', async () => {
    const hung = await Promise.all(Array.from({ length: 3 }, () => hook()));
    for (const one of hung) receiver.answer(one.path, () => {});
    const one = await hook();
    await worker({ timeoutMs: 3_000, endpointsAtOnce: 4 });
    for (let n = 0; n < 6; n += 1) await accepted();
    await until(() => one.received().length === 6);
    for (const each of hung) expect((await each.call('DELETE')).status).toBe(200);
  });
});

describe('wake-ups', () => {
  test('a receiver that is down costs few planned wake-ups, however many events wait', async () => {
    await worker({ firstRetryMs: 120_000 });
    const one = await hook();
    receiver.answer(one.path, (response) => response.writeHead(503).end());
    for (let n = 1; n <= 15; n += 1) {
      await accepted();
      await until(() => one.received().length === n);
    }
    await until(async () => (await one.deliveries()).every(({ lastFailure }) => lastFailure !== null));
    // Pauses differ by delivery: a wake-up is planned only for one that is due before all others.
    const planned = later.filter(({ id, delayMs }) => id === one.id && delayMs > 60_000);
    expect(planned.length).toBeGreaterThan(0);
    expect(planned.length).toBeLessThan(15);
    for (const [n, { dueAtMs }] of planned.slice(1).entries())
      expect(dueAtMs).toBeLessThan(planned[n]?.dueAtMs ?? 0);
    await one.call('DELETE');
  });
});

describe('addresses', () => {
  test('A50: a connection to a private address is refused, also by a name that leads to one', async () => {
    await worker({ allowPrivate: false });
    // The venue of this test allows private addresses, its worker does not: the connection is what refuses.
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1', '0.0.0.0']) {
      const path = newPath();
      const url = `http://${host}:${receiver.port}${path}`;
      const { json } = await v.call('POST', BASE, { key: admin, body: { url } });
      const id = json['webhook']?.['id'] as unknown as string;
      const read = async () =>
        (await v.call('GET', `${BASE}/${id}/deliveries`, { key: admin })).json['deliveries']?.[0] as Json;
      expect((await v.call('POST', `${BASE}/${id}/test`, { key: admin })).status).toBe(200);
      await until(async () => (await read())?.['lastFailure'] ?? undefined);
      expect([host, (await read())['lastFailure']]).toEqual([host, expect.stringMatching(/private address/)]);
      expect(receiver.received(path)).toEqual([]);
      await v.call('DELETE', `${BASE}/${id}`, { key: admin });
    }
  });

  test('A50: what an address may be', () => {
    const { check } = createWebhookPoster({ allowPrivate: false, allowHttp: false, timeoutMs: 1_000 });
    for (const good of [
      'https://example.com/hook',
      'https://93.184.216.34:8443/',
      'https://xn--bcher-kva.example/',
    ])
      expect(() => check(good)).not.toThrow();
    for (const bad of [
      'http://example.com/',
      'ftp://example.com/',
      'file:///etc/passwd',
      'https://user:password@example.com/',
      'https://127.0.0.1/',
      'https://2130706433/',
      'https://0177.0.0.1/',
      'https://10.1.2.3/',
      'https://172.31.255.255/',
      'https://192.168.0.1/',
      'https://100.64.0.1/',
      'https://169.254.169.254/latest/meta-data/',
      'https://0.0.0.0/',
      'https://[::]/',
      'https://[::1]/',
      'https://[fe80::1]/',
      'https://[fec0::1]/',
      'https://[fd00:ec2::254]/',
      'https://[::ffff:169.254.169.254]/',
      'https://[64:ff9b::a9fe:a9fe]/',
      'https://[64:ff9b:1::a9fe:a9fe]/',
      'https://[2002:7f00:1::]/',
      'https://[2001:0:4136:e378::]/',
      'https://224.0.0.1/',
    ])
      expect(() => check(bad), bad).toThrow(/Nothing was sent/);
  });
});

describe('management', () => {
  test('only owners and admins, and nobody from elsewhere', async () => {
    const one = await hook();
    await v.workspace('w4');
    const keys = {
      viewer: await v.key('workspace', { role: 'viewer' }),
      member: await v.key('workspace', { role: 'member' }),
      service: await v.key('service'),
      stranger: await v.key('workspace', { workspaceId: 'w4' }),
      live: await v.key('workspace', { mode: 'live' }),
      owner: await v.key('workspace', { role: 'owner' }),
    };
    const strangers = '/api/v1/workspaces/w4/webhooks';
    const asks: [string, string, unknown?][] = [
      ['GET', ''],
      ['PATCH', '', { description: 'mine' }],
      ['POST', '/test'],
      ['POST', '/rotate', { keepPreviousSeconds: 0 }],
      ['GET', '/deliveries'],
      ['GET', '/deliveries/msg_1'],
      ['POST', '/deliveries/msg_1/resend'],
      ['DELETE', ''],
    ];
    const unknown = (await v.call('GET', `${BASE}/whk_unknown`, { key: admin })).json;
    expect(unknown).toMatchObject({ error: { code: 'not_found' } });
    for (const [method, rest, body] of asks) {
      const ask = (key: string, base: string) =>
        v.call(method, `${base}/${one.id}${rest}`, { key, ...(body !== undefined && { body }) });
      for (const key of [keys.viewer, keys.member, keys.service])
        expect([method, rest, (await ask(key, BASE)).status]).toEqual([method, rest, 403]);
      for (const answer of [
        await ask(keys.stranger, BASE),
        await ask(keys.stranger, strangers),
        await ask(keys.live, BASE),
      ])
        expect([method, rest, answer.status, answer.json]).toEqual([method, rest, 404, unknown]);
    }
    expect((await v.call('GET', BASE, { key: keys.stranger })).status).toBe(404);
    expect((await v.call('GET', strangers, { key: keys.stranger })).json).toMatchObject({ webhooks: [] });
    expect((await v.call('GET', `${BASE}/${one.id}`, { key: keys.owner })).json).toMatchObject({
      id: one.id,
    });
  });

  test('the secret is shown once and is not readable in the database', async () => {
    const one = await hook();
    expect(one.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect((await one.call('GET')).text + (await v.call('GET', BASE, { key: admin })).text).not.toContain(
      'whsec_',
    );
    const [row] = await v.db.query('select * from webhook_endpoint where id = $1', [one.id]);
    const bytes = Buffer.from(one.secret.slice(6), 'base64');
    for (const text of [one.secret, one.secret.slice(6), bytes.toString('hex'), bytes.toString('base64url')])
      expect(JSON.stringify(row)).not.toContain(text);
    // A row copied to another endpoint does not open, nor does it under another key.
    const sealed = String(row?.['secret']);
    expect(createVault(KEYS)?.open(one.id, sealed)).toBe(one.secret);
    expect(() => createVault(KEYS)?.open('whk_other', sealed)).toThrow(/cannot be decrypted/);
    const older = [{ id: 'w2', secret: Buffer.alloc(32, 9) }, ...KEYS];
    expect(createVault(older)?.open(one.id, sealed)).toBe(one.secret);
    expect(() => createVault(older.slice(0, 1))?.open(one.id, sealed)).toThrow(
      /"w1" is not in keys.webhooks/,
    );
  });

  test('rotation: both secrets sign for a while, then only the new one', async () => {
    await worker();
    const one = await hook();
    const rotate = async (keepPreviousSeconds: number) =>
      (await one.call('POST', '/rotate', { keepPreviousSeconds })).json as unknown as {
        secret: string;
        webhook: { previousSecretUntil: string | null };
      };
    const second = await rotate(3_600);
    expect(second.webhook.previousSecretUntil).not.toBeNull();
    await accepted();
    await until(() => one.received().length === 1);
    const [both] = one.received() as [Received];
    expect(both.headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const secret of [one.secret, second.secret]) verified(both, secret);
    const third = await rotate(0);
    expect(third.webhook.previousSecretUntil).toBeNull();
    await accepted();
    await until(() => one.received().length === 2);
    const [, only] = one.received() as [Received, Received];
    verified(only, third.secret);
    for (const secret of [one.secret, second.secret]) expect(() => verified(only, secret)).toThrow();
    expect((await one.call('POST', '/rotate', { keepPreviousSeconds: 8 * 86_400 })).status).toBe(422);
  });

  test('a test event, one at a time; a resend has the same id and body', async () => {
    const one = await hook();
    const first = await one.call('POST', '/test');
    expect(first.json).toMatchObject({ type: 'webhook.test', state: 'waiting', attempts: 0 });
    expect((await one.call('POST', '/test')).json).toMatchObject({ error: { code: 'conflict' } });
    await worker();
    await until(() => one.received().length === 1);
    const [received] = one.received() as [Received];
    expect(verified(received, one.secret)).toEqual({
      type: 'webhook.test',
      occurredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      data: { workspaceId: 'w1', webhookId: one.id },
    });
    const id = String(first.json['id']);
    await until(async () => (await one.deliveries('?state=delivered')).length === 1);
    expect((await one.call('POST', `/deliveries/${id}/resend`)).json).toMatchObject({ id, state: 'waiting' });
    await until(() => one.received().length === 2);
    const [, again] = one.received() as [Received, Received];
    expect([again.headers['webhook-id'], again.body]).toEqual([id, received.body]);
    verified(again, one.secret);
    await until(async () => (await one.deliveries())[0]?.['attempts'] === (2 as never));
  });

  test('disabling ends what waits, enabling starts from then on', async () => {
    const one = await hook();
    await one.call('POST', '/test');
    const off = (await one.call('PATCH', '', { enabled: false })).json;
    expect(off).toMatchObject({ enabled: false, disabled: { reason: 'Disabled by a request.' } });
    expect(await one.deliveries()).toMatchObject([{ state: 'failed' }]);
    expect((await one.call('POST', '/test')).json).toMatchObject({ error: { code: 'conflict' } });
    const missed = await accepted();
    await one.call('PATCH', '', { enabled: true });
    const seen = await accepted();
    await worker();
    await until(() => one.received().length > 0);
    expect(one.received().map(({ json }) => json['orderId'])).toEqual([seen]);
    expect(missed).not.toBe(seen);
  });

  test('the log has pages, newest first', async () => {
    const one = await hook();
    const tests: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      tests.unshift(String((await one.call('POST', '/test')).json['id']));
      await one.call('PATCH', '', { enabled: false });
      await one.call('PATCH', '', { enabled: true });
    }
    const seen: string[] = [];
    for (let before = ''; ;) {
      const page = (await one.call('GET', `/deliveries?limit=2${before}`)).json;
      seen.push(...(page['deliveries'] as unknown as Json[]).map((each) => String(each['id'])));
      if (page['nextBefore'] === null) break;
      before = `&before=${String(page['nextBefore'])}`;
    }
    expect(seen).toEqual(tests);
  });

  test('a workspace has a limit, also when many requests come together', async () => {
    await v.workspace('crowded');
    const key = await v.key('workspace', { workspaceId: 'crowded' });
    const answers = await Promise.all(
      Array.from({ length: 70 }, () =>
        v.call('POST', '/api/v1/workspaces/crowded/webhooks', {
          key,
          body: { url: receiver.url('/crowded') },
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(10);
  });

  test('a venue without a key to keep secrets with has no webhooks, and says so', async () => {
    const bare = await v.replica({ webhookKeys: [] });
    stops.push(() => bare.stop());
    const answer = await fetch(`${bare.url}${BASE}`, {
      method: 'POST',
      headers: { 'X-API-Key': admin, 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: receiver.url('/bare') }),
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      409,
      { error: { message: expect.stringMatching(/keys\.webhooks/) } },
    ]);
  });
});
