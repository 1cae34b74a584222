/**
 * A connection pooler before PostgreSQL. In session mode everything works. A pooler that shares sessions
 * between connections ends each process at its start, with one message that names it.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createBullQueue } from '../../../src/adapters/bullmq/queue.ts';
import { writeSecretFile } from '../../../src/adapters/keystore/file.ts';
import { encryptKey } from '../../../src/adapters/keystore/keystore.ts';
import { requireOwnSessions } from '../../../src/adapters/postgres/pooler.ts';
import { assetId } from '../../../src/domain/asset.ts';
import { startTcpProxy } from '../../faults/support/tcp-proxy.ts';
import { firmquote } from '../../support/command.ts';
import { account } from '../../support/devnet.ts';
import { type PgBouncer, startPgBouncer } from '../../support/pgbouncer.ts';
import { onServer, startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { silentLog } from '../../support/silent.ts';
import { signPlan } from '../../support/taker.ts';
import { type Json, startTestVenue } from '../../support/venue.ts';

let postgres: TestPostgres;
let url: string;
let names = 0;
const poolers: PgBouncer[] = [];
beforeAll(async () => {
  postgres = await startTestPostgres();
  url = await postgres.server.database('pooled');
});
afterEach(async () => {
  await Promise.all(poolers.splice(0).map((pooler) => pooler.stop()));
});
afterAll(() => postgres.stop());

async function behind(...[mode, settings]: [Parameters<typeof startPgBouncer>[1], Record<string, string>?]) {
  const pooler = await startPgBouncer(postgres.url, mode, settings);
  poolers.push(pooler);
  return pooler;
}

describe('each connection has a session of its own', () => {
  test('on PostgreSQL itself', async () => {
    await requireOwnSessions(url);
  });

  test('behind a pooler in session mode', async () => {
    await requireOwnSessions((await behind('session')).through(url));
  });

  test.each<[string, 'transaction' | 'statement', Record<string, string>]>([
    ['transaction mode', 'transaction', {}],
    ['transaction mode, one session for everybody', 'transaction', { default_pool_size: '1' }],
    ['transaction mode, sessions in turn', 'transaction', { server_round_robin: '1' }],
    [
      'transaction mode, every parameter accepted',
      'transaction',
      { ignore_startup_parameters: 'options,statement_timeout,idle_in_transaction_session_timeout' },
    ],
    ['statement mode', 'statement', {}],
  ])('not behind one in %s', async (_, mode, settings) => {
    const through = (await behind(mode, settings)).through(url);
    await expect(requireOwnSessions(through)).rejects.toMatchObject({
      code: 'sessions_shared',
      retry: 'never',
      message: expect.stringMatching(/pooler.*LISTEN.*DATABASE_URL/s),
    });
  });

  test('not behind one in transaction mode that others use too', async () => {
    const pooler = await behind('transaction', { server_round_robin: '1' });
    const others = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const client = new pg.Client({ connectionString: pooler.through(url) });
        await client.connect();
        return client;
      }),
    );
    await Promise.all(others.map((other) => other.query('begin; select 1')));
    await Promise.all(others.map((other) => other.query('commit')));
    await expect(requireOwnSessions(pooler.through(url))).rejects.toMatchObject({ code: 'sessions_shared' });
    await Promise.all(others.map((other) => other.end()));
  });

  test('on a database that answers each statement late, but in time', async () => {
    const late = await startTcpProxy(url);
    late.set({ kind: 'delay', ms: 1_200, of: (chunk) => /(?:listen|notify) firmquote/.test(String(chunk)) });
    await requireOwnSessions(late.url, 2_000).finally(() => late.stop());
  });

  test('a pooler without a free session is asked again later, not blamed', async () => {
    const through = (await behind('session', { default_pool_size: '1' })).through(url);
    await expect(requireOwnSessions(through, 500)).rejects.toMatchObject({
      code: 'database_unavailable',
      retry: 'later',
    });
  });
});

describe('a process', () => {
  let folder: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fq-pooler-'));
    await writeSecretFile(
      join(folder, 'operator.json'),
      await encryptKey(account(51), 'password', { n: 1 << 10 }),
    );
    env = {
      BASE_RPC_URL: 'http://127.0.0.1:1',
      ARC_RPC_URL: 'http://127.0.0.1:1',
      FIRMQUOTE__OPS__PORT: '0',
    };
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(['venue', 'lp'])('%s ends behind a pooler in transaction mode, with one message', async (app) => {
    const { status, stdout } = await firmquote([app, '--config', `config/${app}.example.json`], {
      ...env,
      DATABASE_URL: (await behind('transaction')).through(url),
      ...(app === 'lp' && {
        OPERATOR_PASSWORD: 'password',
        FIRMQUOTE__KEYS__OPERATOR__KEYSTORE: join(folder, 'operator.json'),
      }),
    });
    expect(status).toBe(1);
    const bad = stdout.split('\n').filter((line) => /"level":"(?:warn|error|fatal)"/.test(line));
    expect(bad.map((line) => line.replace(/.*"level":"(\w+)".*/, '$1'))).toEqual(['fatal']);
    expect(bad[0]).toMatch(/pooler.*LISTEN.*session mode/);
  });

  test('a tool ends likewise', async () => {
    const through = (await behind('transaction')).through(url);
    const { status, stderr } = await firmquote(
      ['workspace', 'list', '--config', 'config/venue.example.json'],
      { ...env, DATABASE_URL: through },
    );
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/pooler.*session mode/);
  });
});

describe('a venue behind a pooler in session mode', () => {
  test.each<[string, Record<string, string>]>([
    ['as it comes', {}],
    ['that drops parameters of the start', { ignore_startup_parameters: 'options,statement_timeout' }],
  ])('%s: an order, its events, the export and wake-ups', async (_, settings) => {
    const pooler = await behind('session', settings);
    const server = {
      ...postgres.server,
      database: async (name: string) => pooler.through(await postgres.server.database(name)),
    };
    const clean = async () => {};
    const v = await startTestVenue({
      postgres: onServer({ ...server, stop: clean }, clean, `pooled_${names++}`),
    });
    try {
      const [usdc, weth] = [v.chain.usdc, v.chain.weth].map(({ address: token }) =>
        assetId({ chainId: v.chain.chain.id, token }),
      );
      await v.solver(1, (rfq, make) => make.quote(rfq, { output: BigInt(rfq.amount) * 10n ** 8n }));
      const taker = account(71);
      await v.chain.fund(taker.address, 10_000n);
      const key = await v.key('service');
      const replica = await v.replica();
      const stream = new WebSocket(`${replica.url.replace('http', 'ws')}/api/v1/ws`, {
        headers: { 'X-API-Key': key },
      });
      const frames: string[] = [];
      stream.on('message', (data: Buffer) => void frames.push(data.toString()));
      await new Promise((resolve, reject) => stream.once('open', resolve).once('error', reject));
      stream.send(JSON.stringify({ op: 'subscribe', topics: ['orders'] }));
      const post = async (path: string, body: unknown) => {
        const { json, status, text } = await v.call('POST', `/api/v1/rfq/${path}`, { key, body });
        expect(status, text).toBe(200);
        return json;
      };
      const input = { asset: usdc, amount: '100000000' };
      const quoted = await post('quotes', { taker: taker.address, input, output: { asset: weth } });
      const candidate = quoted['quotes']?.[0] as Json;
      expect(candidate, JSON.stringify(quoted)).toBeDefined();
      const plan = await post('orders/preflight', { quoteResponse: candidate });
      const order = await post('orders', await signPlan(taker, candidate, plan));
      await expect.poll(() => frames.join()).toContain(order['id']);
      stream.close();
      const owner = await v.key('workspace', { role: 'owner' });
      const exported = await v.call('GET', '/api/v1/workspaces/w1/trades/export', { key: owner });
      expect(exported.status, exported.text).toBe(200);
      const queue = createBullQueue({
        connection: { kind: 'postgres', url: v.databaseUrl, schema: 'venue_queue' },
        log: silentLog,
      });
      const woken: string[] = [];
      await queue.process('orders', 1, async (id) => void woken.push(id));
      await queue.wake('orders', 'one');
      await expect.poll(() => woken).toEqual(['one']);
      await queue.close();
      const { rows } = await v.db.pool.query('show statement_timeout');
      expect(rows).toEqual([{ statement_timeout: '30s' }]);
    } finally {
      await v.stop();
    }
  });
});
