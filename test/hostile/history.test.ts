/** History requests that hold the database, and submissions that do not arrive, leave room for others. */

import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import pg from 'pg';
import { seedPeople, seedTrades } from '../../bench/trade-seed.ts';
import { startTestVenue, type TestVenue, until } from '../support/venue.ts';

const TRADES = 1_500;
const LIST = '/api/v1/workspaces/w1/trades';

let v: TestVenue;
let admin: pg.Client;
let hostile: string;
let honest: string;

beforeAll(async () => {
  v = await startTestVenue({ chainIds: [31_465] });
  await seedTrades(v.db, {
    ...{ book: { workspaceId: 'w1', mode: 'test' }, rows: TRADES, seed: 7, days: 30, untilMs: Date.now() },
    ...{ chains: [v.chain.chain], usd: { USD: 1, ETH: 2_500 }, ...(await seedPeople(v.db, 'w1')) },
  });
  admin = new pg.Client({ connectionString: v.databaseUrl, options: `-c search_path=${v.db.schema}` });
  await admin.connect();
  hostile = await v.key('workspace');
  honest = await v.key('service');
}, 120_000);
afterAll(async () => {
  await admin?.end();
  await v?.stop();
});

const statusOf = async (path: string, key: string): Promise<number> =>
  (await v.call('GET', path, { key })).status;
const counted = (statuses: readonly number[]) =>
  Object.fromEntries(
    [...new Set(statuses)].map((each) => [each, statuses.filter((one) => one === each).length]),
  );

/** Sends this text on so many connections and reads nothing. */
async function mute(text: string, connections: number): Promise<() => void> {
  const sockets = await Promise.all(
    Array.from(
      { length: connections },
      () =>
        new Promise<Socket>((resolve) => {
          const socket = connect({ port: Number(new URL(v.url).port), host: '127.0.0.1' }, () =>
            socket.write(text, () => resolve(socket)),
          );
          socket.on('error', () => {}).pause();
        }),
    ),
  );
  return () => sockets.forEach((socket) => socket.destroy());
}

test('history requests of one key that hold the database leave connections for orders', async () => {
  await admin.query('begin; lock table trade in access exclusive mode');
  const stuck = Array.from({ length: 100 }, () => statusOf(`${LIST}?limit=100&offset=1000`, hostile));
  await until(async () => {
    const [row] = (
      await admin.query(
        'select count(*)::int n from pg_locks join pg_database on oid = database where datname = current_database() and not granted',
      )
    ).rows as { n: number }[];
    return (row?.n ?? 0) > 0;
  });
  for (let n = 0; n < 5; n += 1)
    expect(await statusOf(`/api/v1/rfq/orders/0x${'1'.repeat(64)}`, honest)).toBe(404);
  await admin.query('rollback');
  // Those that waited too long are refused with Retry-After.
  expect(
    Object.keys(counted(await Promise.all(stuck))).every((each) => ['200', '503', '429'].includes(each)),
  ).toBe(true);
});

test('submissions of one key whose bodies do not arrive leave room for those of others', async () => {
  const request =
    `POST /api/v1/rfq/orders HTTP/1.1\r\nHost: x\r\nX-API-Key: ${honest}\r\n` +
    'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{';
  const hangUp = await mute(request, 300);
  const other = await v.key('service');
  const answer = await v.call('POST', '/api/v1/rfq/orders', { key: other, body: {} });
  expect(answer.status).toBe(422);
  hangUp();
});

test('exports of one workspace, started again and again, open no connection while one is read', async () => {
  const path = `${LIST}/export`;
  const countOf = async (sql: string) => (await v.db.query<{ n: number }>(sql))[0]?.n ?? 0;
  const exports = () =>
    countOf(
      "select count(*)::int n from pg_stat_activity where datname = current_database() and application_name = 'firmquote export'",
    );
  const sessions = () =>
    countOf('select sum(sessions)::int n from pg_stat_database where datname = current_database()');
  await admin.query('begin; lock table trade in access exclusive mode');
  const reading = statusOf(path, hostile);
  await until(async () => (await exports()) === 1);
  const before = await sessions();
  const statuses = [];
  for (let n = 0; n < 40; n += 1) statuses.push(await statusOf(path, hostile));
  expect(counted(statuses)).toEqual({ 429: 40 });
  expect((await sessions()) - before).toBeLessThan(20);
  await admin.query('rollback');
  expect(await reading).toBe(200);
  await until(async () => (await exports()) === 0);
  expect(await statusOf(path, hostile)).toBe(200);
});
