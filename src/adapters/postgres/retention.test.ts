/** Tests that expired rows are deleted in small batches, and that rows that are young, open or owned stay. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import { silentLog, silentMetrics } from '../../../test/support/silent.ts';
import { startRetention } from '../../apps/wiring/retention.ts';
import { LP_TABLES } from '../../apps/lp/schema.ts';
import { VENUE_TABLES } from '../../apps/venue/schema.ts';
import { systemClock } from '../system/clock.ts';
import { letGo } from './retention.ts';
import type { Database } from './pool.ts';

const DAY_MS = 86_400_000;
let postgres: TestPostgres;
let db: Database;
let lp: Database;

beforeAll(async () => {
  postgres = await startTestPostgres();
  db = await postgres.database('venue', VENUE_TABLES);
  lp = await postgres.database('lp', LP_TABLES);
});
afterAll(() => postgres.stop());

const key = (name: string, atMs: number) =>
  db.query(`insert into idempotency values ('w', 'rfq', 'test', $1, 'x', '\\x01', '{}', $2)`, [name, atMs]);
const keys = async () =>
  (await db.query<{ key: string }>('select key from idempotency order by key')).map((row) => row.key);

test('idempotency keys: deletes the oldest first, in batches, and no recent one', async () => {
  for (const [name, atMs] of [
    ['a', 1],
    ['b', 2],
    ['c', 3],
    ['young', 100],
  ] as const)
    await key(name, atMs);
  expect(await letGo(db, 'idempotency', 50, 2)).toBe(2);
  expect(await keys()).toEqual(['c', 'young']);
  expect(await letGo(db, 'idempotency', 50, 2)).toBe(1);
  expect(await letGo(db, 'idempotency', 50, 2)).toBe(0);
  expect(await keys()).toEqual(['young']);
});

test('skips a locked row without waiting', async () => {
  for (const name of ['held', 'idle']) await key(name, 1);
  await db.transaction(async (session) => {
    await session.query(`select 1 from idempotency where key = 'held' for update`);
    expect(await letGo(db, 'idempotency', 50, 10)).toBe(1);
  });
  expect(await letGo(db, 'idempotency', 50, 10)).toBe(1);
});

test('slots: deletes ended ones with their attempts, never an open one or a later one, and always keeps one to count from', async () => {
  const slot = async (nonce: number, state: string, atMs: number) => {
    const [row] = await db.query<{ id: number }>(
      `insert into tx_slot (chain_id, signer, nonce, key, destination, data, state, created_at_ms) values (1, '\\x01', $1, $2, '\\x', '\\x', $3, $4) returning id`,
      [nonce, `k${nonce}`, state, atMs],
    );
    await db.query(`insert into tx_attempt values ($1, 1, '\\x', '\\x', 1, 1, 1, false, 1)`, [row?.id]);
  };
  for (const [nonce, state, atMs] of [
    [0, 'mined', 1],
    [1, 'void', 2],
    [2, 'open', 3],
    [3, 'mined', 4],
  ] as const)
    await slot(nonce, state, atMs);
  const nonces = async () =>
    (await db.query<{ nonce: number }>('select nonce from tx_slot order by nonce')).map(({ nonce }) => nonce);
  expect(await letGo(db, 'slots', 50, 1)).toBe(1);
  expect(await nonces()).toEqual([1, 2, 3]);
  expect(await letGo(db, 'slots', 50, 10)).toBe(1);
  expect(await letGo(db, 'slots', 50, 10)).toBe(0);
  expect(await nonces()).toEqual([2, 3]);
  await db.query(`update tx_slot set state = 'mined'`);
  expect(await letGo(db, 'slots', 50, 10)).toBe(1);
  expect(await nonces()).toEqual([3]);
  expect(await db.query('select count(*)::int as n from tx_attempt')).toEqual([{ n: 1 }]);
});

test('events of a long finished order are deleted together; the newest position stays', async () => {
  await db.query(`insert into trade_order (order_id, quote_id, workspace_id, key_id, namespace, mode, execution_mode, origin_chain_id, dest_chain_ids, taker, nonce, message, valid_until, commitments, solver_ids, signature, sign_scheme, funding, candidate, response, final, created_at_ms, updated_at_ms)
    select decode(lpad(to_hex(n), 64, '0'), 'hex'), decode(lpad(to_hex(n), 64, '0'), 'hex'), 'w', 'k', 'rfq', 'test', 'apiSubmit', 1, '{1}', '\\x01', decode(lpad(to_hex(n), 64, '0'), 'hex'), '{}', 1, '[]', '{}', '\\x', 'EIP712', '\\x', '{}', '{}', n <> 2, n, n from generate_series(1, 4) n`);
  await db.query(
    `insert into order_event (order_id, seq, type, occurred_at_ms, place, workspace_id, mode) select order_id, seq, 'order.created', 1, row_number() over (order by order_id, seq), 'w', 'test' from trade_order, generate_series(1, 2) seq`,
  );
  expect(await letGo(db, 'events', 50, 10)).toBe(4);
  // The open one's, and the last.
  expect(
    (await db.query<{ place: number }>('select place from order_event order by place')).map(
      ({ place }) => place,
    ),
  ).toEqual([3, 4, 7, 8]);
});

test('the background task deletes batch after batch, and keeps what has no limit', async () => {
  for (let n = 0; n < 7; n += 1) await key(`old-${n}`, Date.now() - 3 * DAY_MS);
  await key('fresh', Date.now());
  await lp.query(`insert into lp_explanation values ('\\x01', 'q', 'r', 1, '{}')`);
  const venue = startRetention(
    { db, clock: systemClock, log: silentLog, metrics: silentMetrics },
    { idempotency: 2, events: null },
    { everyMs: 60_000, busyMs: 1, batch: 2 },
  );
  const maker = startRetention(
    { db: lp, clock: systemClock, log: silentLog, metrics: silentMetrics },
    { slots: 1, explanations: 30 },
    { busyMs: 1 },
  );
  await expect.poll(keys).toEqual(['fresh', 'young'].filter((name) => name === 'fresh'));
  await expect.poll(() => lp.query('select 1 from lp_explanation')).toEqual([]);
  await Promise.all([venue.stop(), maker.stop()]);
  expect(await db.query('select count(*)::int as n from order_event')).toEqual([{ n: 4 }]);
});

test('tickets: deletes what expired before, used or not, and none that may still be used', async () => {
  const ticket = (name: string, age: string, used = false) =>
    db.query(`insert into ws_ticket values ($1, 'k', now() - $2::interval, $3)`, [name, age, used]);
  await ticket('old', '2 hours');
  await ticket('old and used', '2 hours', true);
  await ticket('just expired', '1 second');
  await ticket('live', '-30 seconds');
  expect(await letGo(db, 'tickets', Date.now() - DAY_MS / 24, 10)).toBe(2);
  const left = await db.query<{ sha256: string }>('select sha256 from ws_ticket order by 1');
  expect(left.map(({ sha256 }) => sha256)).toEqual(['just expired', 'live']);
});
