/**
 * Webhooks of real processes: an API and workers as `firmquote venue` runs them, on PostgreSQL and Redis, and
 * the example receiver of the docs. A worker is killed while it delivers.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../src/adapters/postgres/embedded/embedded.ts';
import { connectDatabase, type Database } from '../../../src/adapters/postgres/pool.ts';
import { createVenueStore } from '../../../src/adapters/postgres/venue/venue-store.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { systemRandom } from '../../../src/adapters/system/random.ts';
import type { Bytes32 } from '../../../src/domain/hex.ts';
import type { VenueStore } from '../../../src/ports/stores/venue-store.ts';
import { mintKey } from '../../../src/venue/access/keys.ts';
import { type Running, startFirmquote } from '../../support/command.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../../support/devnet.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { silentLog } from '../../support/silent.ts';
import { makeTrade } from '../../support/trade.ts';
import { type Json, until } from '../../support/venue.ts';
import { type Receiver, startReceiver } from '../../support/webhook-receiver.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SECRETS = { SECRET: 'cd'.repeat(32), WEBHOOKS: 'ef'.repeat(32), RELAYER: `0x${'11'.repeat(32)}` };

let folder: string;
let devnet: Devnet;
let postgres: TestPostgres;
let redis: TestRedis;
let db: Database;
let store: VenueStore;
let receiver: Receiver;
let base: string;
let key: string;
let options: Record<string, unknown>;
const processes: Running[] = [];
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-webhooks-'));
  await chmod(folder, 0o755);
  [devnet, postgres, redis, receiver] = await Promise.all([
    startDevnet([31_461]),
    startTestPostgres(),
    startRedis(),
    startReceiver(),
  ]);
  const url = await postgres.server.database('venue');
  const port = await freePort();
  base = `http://127.0.0.1:${port}/api/v1/workspaces/main/webhooks`;
  const [one] = devnet.chains as [TestChain];
  const { id, slug, escrow, oracle, permit2, tokens } = one.chain;
  options = {
    app: 'venue',
    venueId: 'test',
    http: { port },
    ops: { port: 0 },
    database: { url },
    queue: { redisUrl: redis.url },
    keys: {
      relayer: { env: 'RELAYER', development: true },
      seals: [{ id: 'k1', secret: { env: 'SECRET' } }],
      webhooks: [{ id: 'w1', secret: { env: 'WEBHOOKS' } }],
    },
    chains: [{ id, slug, sandbox: true, escrow, oracle, permit2, tokens, rpcUrls: [one.anvil.url] }],
    workspaces: [{ id: 'main', name: 'Main' }],
    webhooks: { allowPrivate: true, allowHttp: true, timeoutMs: 2_000, firstRetryMs: 200, sweepMs: 200 },
  };
  await start('api', 'venue is open');
  db = connectDatabase({ url, schema: 'venue', log: silentLog });
  store = createVenueStore(db);
  const minted = mintKey(
    { random: systemRandom, clock: systemClock },
    {
      kind: 'workspace',
      mode: 'test',
      workspaceId: 'main',
      role: 'admin',
      memberId: null,
      solverId: null,
      label: 'test',
    },
  );
  key = minted.text;
  await store.addKey(minted.record);
}, 120_000);

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(processes.map((one) => one.stop()));
  await db?.close();
  await Promise.all([devnet?.stop(), postgres?.stop(), redis?.stop(), receiver?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

let serial = 0;
async function start(role: 'api' | 'worker', says: string, change: object = {}): Promise<Running> {
  const file = join(folder, `venue-${(serial += 1)}.json`);
  await writeFile(file, JSON.stringify({ ...options, ...change }));
  const running = startFirmquote(['venue', '--role', role, '-c', file], SECRETS);
  processes.push(running);
  await running.says(says);
  return running;
}
const startWorker = () => start('worker', 'worker is at work');

async function call(method: string, path = '', body?: object): Promise<{ status: number; json: Json }> {
  const response = await fetch(base + path, {
    method,
    headers: { 'X-API-Key': key, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Json };
}

async function accepted(): Promise<Bytes32> {
  const [origin] = devnet.chains as [TestChain];
  const trade = makeTrade({ origin, taker: account(31), lps: [{ account: account(32) }] });
  await store.accept({ ...trade, workspaceId: 'main' }, '{}', null);
  return trade.orderId;
}

test('killed while it delivers, a worker leaves the delivery to another one, with the same id', async () => {
  const first = await startWorker();
  const { json } = await call('POST', '', { url: receiver.url('/held') });
  const hook = String(json['webhook']?.['id']);
  receiver.answer('/held', () => {});
  const orderId = await accepted();
  await until(() => receiver.received('/held').length === 1);
  first.child.kill('SIGKILL');
  await first.ended;
  receiver.answer('/held', undefined);
  await startWorker();
  await until(
    async () =>
      ((await call('GET', `/${hook}/deliveries?state=delivered`)).json['deliveries'] as unknown as Json[])
        .length === 1,
  );
  const received = receiver.received('/held');
  expect(received.map(({ json: event }) => event['orderId'])).toEqual([orderId, orderId]);
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  const id = received[0]?.headers['webhook-id'] ?? '';
  const { log } = (await call('GET', `/${hook}/deliveries/${id}`)).json as unknown as { log: Json[] };
  expect(log).toMatchObject([
    { attempt: 1, durationMs: null, status: null, failure: null },
    { attempt: 2, status: 204, failure: null },
  ]);
});

test('the example receiver takes what is signed, once, and nothing else', async () => {
  await startWorker();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { json } = await call('POST', '', { url, events: ['order.created'] });
  const hook = String(json['webhook']?.['id']);
  const child = spawn(process.execPath, [join(ROOT, 'docs/examples/webhook-receiver.mjs')], {
    env: { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: String(json['secret']) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let printed = '';
  child.stdout.on('data', (part: Buffer) => (printed += part.toString()));
  await until(() => printed.includes('listening'));
  const orderId = await accepted();
  await until(() => printed.includes(`order.created ${orderId} pending`));
  const delivered = async () =>
    (await call('GET', `/${hook}/deliveries?state=delivered`)).json['deliveries'] as unknown as Json[];
  await until(async () => (await delivered()).length === 1);

  // The same delivery again is acknowledged and not handled twice.
  const id = String((await delivered())[0]?.['id']);
  expect((await call('POST', `/${hook}/deliveries/${id}/resend`)).status).toBe(200);
  await until(async () => (await delivered())[0]?.['attempts'] === (2 as never));
  expect(printed.split(`order.created ${orderId}`)).toHaveLength(2);

  // With another secret nothing is accepted; with both, during a rotation, everything is.
  const rotated = String((await call('POST', `/${hook}/rotate`, { keepPreviousSeconds: 0 })).json['secret']);
  expect(rotated).not.toBe(json['secret']);
  const refused = await accepted();
  await until(
    async () =>
      ((await call('GET', `/${hook}`)).json['lastFailure'] as unknown) === 'It answered with status 400.',
  );
  expect(printed).not.toContain(refused);
  for (const [headers, body] of [
    [{}, '{}'],
    [{ 'webhook-id': 'msg_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' }, '{}'],
  ] as const)
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(400);
});

test('a venue with its defaults refuses a private address when it is registered', async () => {
  const port = await freePort();
  await start('api', 'venue is open', { http: { port }, webhooks: {} });
  for (const [url, why] of [
    ['https://127.0.0.1/hook', /private address/],
    ['https://[fd00:ec2::254]/latest', /private address/],
    ['http://example.com/hook', /must be an https/],
  ] as const) {
    const response = await fetch(base.replace(/:\d+/, `:${port}`), {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ url }),
    });
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { detail: [{ loc: ['body', 'url'], msg: expect.stringMatching(why) }] },
    ]);
  }
});
