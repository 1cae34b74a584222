/** Tests what a scrape shows about a real PostgreSQL while its connections are used up, cut or unanswered. */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTcpProxy, type TcpProxy } from '../../../test/faults/support/tcp-proxy.ts';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import { silentLog } from '../../../test/support/silent.ts';
import { createMetrics } from '../prometheus/metrics.ts';
import { connectDatabase, type Database } from './pool.ts';
import { classOf } from './pool-metrics.ts';

let postgres: TestPostgres;
let cable: TcpProxy;
let db: Database;
const metrics = createMetrics();

beforeAll(async () => {
  postgres = await startTestPostgres();
  cable = await startTcpProxy(await postgres.server.database('watched'));
  db = connectDatabase({ url: cable.url, schema: 'public', maxConnections: 2, log: silentLog, metrics });
});
afterEach(() => cable.set({ kind: 'pass' }));
afterAll(async () => {
  await db.close();
  await cable.stop();
  await postgres.stop();
});

async function shown(series: string): Promise<number> {
  const line = (await metrics.text())
    .split('\n')
    .find((each) => each.startsWith(`firmquote_postgres_${series} `));
  return Number(line?.split(' ')[1]);
}
const faults = (fault: string) => shown(`connection_errors_total{fault="${fault}"}`);

test('shows who uses the pool, who waits, and for how long', async () => {
  expect(await shown('up')).toBe(0);
  let [release, held] = [() => {}, 0];
  const until = new Promise<void>((resolve) => (release = resolve));
  const hold = () =>
    db.transaction(async () => {
      held += 1;
      await until;
    });
  const [one, two] = [hold(), hold()];
  await expect.poll(() => held).toBe(2);
  const late = db.query('select 1');
  await expect.poll(() => shown('waiting_callers')).toBe(1);
  await expect.poll(() => shown('longest_wait_seconds')).toBeGreaterThan(0);
  expect(await shown('connections{state="in_use"}')).toBe(2);
  expect(await shown('connections_max')).toBe(2);
  release();
  await Promise.all([one, two, late]);
  expect(await shown('waiting_callers')).toBe(0);
  expect(await shown('longest_wait_seconds')).toBe(0);
  expect(await shown('connections{state="idle"}')).toBe(2);
  expect(await shown('wait_seconds_count')).toBe(3);
  expect(await shown('up')).toBe(1);
  expect(await shown('statement_seconds_count{class="commit"}')).toBe(2);
});

test('a statement that the server refuses is an answer', async () => {
  const before = await shown('statement_seconds_count{class="read"}');
  await expect(db.query('select 1 / 0')).rejects.toMatchObject({ code: 'database_unavailable' });
  expect(await shown('statement_seconds_count{class="read"}')).toBe(before + 1);
  expect(await shown('up')).toBe(1);
  expect(await faults('lost')).toBe(0);
});

test('a caller that finds every connection in use until it gives up is busy, not an outage', async () => {
  let release = () => {};
  const until = new Promise<void>((resolve) => (release = resolve));
  const held = [1, 2].map(() => db.transaction(() => until));
  await expect(db.query('select 1')).rejects.toMatchObject({ code: 'database_unavailable' });
  release();
  await Promise.all(held);
  expect(await faults('busy')).toBe(1);
  expect(await faults('connect')).toBe(0);
  expect(await shown('up')).toBe(1);
}, 20_000);

test('a lost connection, and a server that is gone until it is back', async () => {
  const sleeping = db.query('select pg_sleep(600)');
  await expect.poll(() => shown('connections{state="in_use"}')).toBe(1);
  await expect.poll(() => cable.open()).toBeGreaterThan(0);
  cable.set({ kind: 'reset' });
  await expect(sleeping).rejects.toMatchObject({ code: 'database_unavailable' });
  expect(await faults('lost')).toBeGreaterThan(0);
  // The pool may not know yet that its idle connection is gone.
  const refused = () => expect(db.query('select 1')).rejects.toMatchObject({ code: 'database_unavailable' });
  await expect
    .poll(async () => {
      await refused();
      return faults('connect');
    })
    .toBe(1);
  expect(await shown('up')).toBe(0);
  cable.set({ kind: 'pass' });
  await db.query('select 1');
  expect(await shown('up')).toBe(1);
});

test.each([
  ['select 1', 'read'],
  ['\n  with a as (select 1 for update skip locked) select * from a', 'read'],
  ['with a as (select 1) update orders o set x = 1', 'write'],
  ['with gone as (delete from t returning *) select count(*) from gone', 'write'],
  ['insert into t values (1)', 'write'],
  ['commit', 'commit'],
  ['begin', 'other'],
  ['', 'other'],
])('the class of %j is %s', (statement, wanted) => {
  expect(classOf(statement)).toBe(wanted);
});
