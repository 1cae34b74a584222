/** A schema that programs of two releases share: who may start on what, and what a running one notices. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import { silentLog } from '../../../test/support/silent.ts';
import { checkSchema, type Migration, migrate, SchemaError } from './migrate.ts';
import { connectDatabase, type Database } from './pool.ts';

const FIRST: Migration = { id: 't-1', sql: 'create table thing (id int primary key, name text not null)' };
const EXPAND: Migration = { id: 't-2-colour', sql: 'alter table thing add column colour text' };
const CONTRACT: Migration = { id: 't-3-no-name', sql: 'alter table thing drop column name', contract: true };

let postgres: TestPostgres;
const open: Database[] = [];

beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterAll(async () => {
  await Promise.all(open.map((db) => db.close()));
  await postgres.stop();
});

async function connect(schema: string): Promise<Database> {
  const db = connectDatabase({
    url: await postgres.server.database('migrate'),
    schema,
    log: silentLog,
    maxConnections: 3,
  });
  open.push(db);
  return db;
}

test('many simultaneous starts migrate once', async () => {
  const databases = await Promise.all(Array.from({ length: 6 }, () => connect('at_once')));
  const done = await Promise.all(databases.map((db) => migrate(db, [FIRST, EXPAND])));
  expect(done.flat().toSorted()).toEqual(['t-1', 't-2-colour']);
});

test('the previous release starts and works on the newer schema', async () => {
  const db = await connect('expand');
  await migrate(db, [FIRST, EXPAND]);
  expect(await migrate(db, [FIRST])).toEqual([]);
  await expect(checkSchema(db, [FIRST])).resolves.toBeUndefined();
});

test('a release that the schema no longer supports refuses to start, says why, and notices it while running', async () => {
  const db = await connect('contract');
  await migrate(db, [FIRST]);
  await migrate(await connect('contract'), [FIRST, EXPAND, CONTRACT]);
  await expect(migrate(db, [FIRST, EXPAND])).rejects.toThrow(
    /newer firmquote has changed this database \("t-3-no-name"\).*Start the newer version/s,
  );
  await expect(checkSchema(db, [FIRST, EXPAND])).rejects.toBeInstanceOf(SchemaError);
  await expect(checkSchema(db, [FIRST, EXPAND, CONTRACT])).resolves.toBeUndefined();
});

test('refuses a released migration whose text has changed', async () => {
  const db = await connect('changed');
  await migrate(db, [FIRST]);
  await expect(migrate(db, [{ ...FIRST, sql: `${FIRST.sql} ` }])).rejects.toThrow(
    /"t-1" of this version is not the one that ran/,
  );
});

test('accepts migrations that ran before checksums existed', async () => {
  const db = await connect('earlier');
  const url = db.pool.options.connectionString as string;
  const maker = connectDatabase({ url, schema: 'earlier', log: silentLog });
  open.push(maker);
  await maker.query('create schema earlier');
  await maker.query(
    'create table migration (id text primary key, applied_at timestamptz not null default now())',
  );
  await maker.query(`insert into migration (id) values ('t-1')`);
  await maker.query(FIRST.sql);
  expect(await migrate(db, [FIRST, EXPAND])).toEqual(['t-2-colour']);
});

test('a failed migration changes nothing', async () => {
  const db = await connect('failing');
  await expect(
    migrate(db, [FIRST, { id: 't-bad', sql: 'alter table nowhere add column x int' }]),
  ).rejects.toThrow();
  expect(await migrate(db, [FIRST])).toEqual(['t-1']);
});

test('a migration does not block a busy table: it gives up waiting for the lock and may be retried', async () => {
  const db = await connect('busy');
  await migrate(db, [FIRST]);
  await db.transaction(async (reader) => {
    await reader.query('select * from thing');
    await expect(migrate(await connect('busy'), [FIRST, EXPAND])).rejects.toMatchObject({ retry: 'later' });
  });
  expect(await migrate(db, [FIRST, EXPAND])).toEqual(['t-2-colour']);
});

test('prepared statements keep working after a column is added, also inside transactions', async () => {
  const db = await connect('plans');
  await migrate(db, [FIRST]);
  const all = { name: 'thing-all', text: 'select * from thing' };
  const look = () =>
    Promise.all([
      ...Array.from({ length: 6 }, () => db.query(all)),
      ...Array.from({ length: 6 }, () => db.transaction((session) => session.query(all))),
    ]);
  await look();
  await migrate(await connect('plans'), [FIRST, EXPAND]);
  await expect(look()).resolves.toHaveLength(12);
  await expect(look()).resolves.toHaveLength(12);
});
