/**
 * Webhooks from the workspace's side: created over the API, delivered by workers over a real queue to a real
 * receiver, verified with the `standardwebhooks` package. Laws first, then stories, then faults.
 */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { createBullQueue } from '../../src/adapters/bullmq/queue.ts';
import { createWebhookPoster } from '../../src/adapters/outbound/webhooks.ts';
import { createPostgresBus } from '../../src/adapters/postgres/bus.ts';
import { connectDatabase } from '../../src/adapters/postgres/pool.ts';
import { createVenueStore } from '../../src/adapters/postgres/venue/venue-store.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import type { Bytes32 } from '../../src/domain/hex.ts';
import { zOrderEvent } from '../../src/protocol/api/events.ts';
import { createWebhookCourier } from '../../src/venue/webhooks/deliver.ts';
import { createWebhookFanOut } from '../../src/venue/webhooks/fan-out.ts';
import { WEBHOOKS, type WebhookOptions } from '../../src/venue/webhooks/options.ts';
import { createVault } from '../../src/venue/webhooks/vault.ts';
import { account } from '../support/devnet.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';
import { makeTrade } from '../support/trade.ts';
import { type Answer, type Json, startTestVenue, type TestVenue, until } from '../support/venue.ts';
import { type Received, type Receiver, startReceiver } from '../support/webhook-receiver.ts';

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

/** A worker of its own: connections, queue and leases. */
async function worker(
  change: Partial<WebhookOptions> & { allowPrivate?: boolean } = {},
): Promise<{ stop(): Promise<void> }> {
  const { allowPrivate = true, ...own } = change;
  const options = { ...WEBHOOKS, firstRetryMs: 50, timeoutMs: 5_000, sweepMs: 100, ...own };
  const db = connectDatabase({ url: v.databaseUrl, schema: v.db.schema, log: silentLog });
  const store = createVenueStore(db);
  const bus = createPostgresBus(db, silentLog);
  const queue = queueOn(v.databaseUrl);
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
  });
});
