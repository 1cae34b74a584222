/**
 * The embedded server keeps what was committed, whoever is killed, and works from folders that its user
 * cannot enter.
 */

import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../support/silent.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../src/adapters/postgres/embedded/embedded.ts';
import { migrate } from '../../../src/adapters/postgres/migrate.ts';
import { VENUE_MIGRATIONS } from '../../../src/adapters/postgres/migrations/venue.ts';
import { connectDatabase } from '../../../src/adapters/postgres/pool.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function folder(mode: number): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'firmquote-embedded-'));
  await chmod(path, mode);
  cleanups.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function start(dataDir: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, log: silentLog, settings: { fsync: 'off' } });
  cleanups.push(() => server.stop());
  return server;
}

async function query<T>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as T[];
  } finally {
    await client.end();
  }
}

test('commits survive a kill -9 of the server, and a stale pid file does not prevent a start', async () => {
  const dir = await folder(0o755);
  const first = await start(dir);
  const url = await first.database('kept');
  await query(url, 'create table t (n int); insert into t values (42)');
  await first.kill();
  const pidFile = join(first.clusterDir, 'postmaster.pid');
  // A stranger that lives has the number now: this very process.
  const stale = await readFile(pidFile, 'utf8');
  await writeFile(pidFile, stale.replace(/^\d+/, String(process.pid)));
  const second = await start(dir);
  expect(await query(await second.database('kept'), 'select n from t')).toEqual([{ n: 42 }]);
});

test('works in a data directory that only our user can enter', async () => {
  const dir = await folder(0o700);
  const server = await start(dir);
  if (process.getuid?.() === 0) {
    expect(server.clusterDir.startsWith(dir)).toBe(false);
    expect((await readFile(join(dir, 'LOCATION'), 'utf8')).trim()).toBe(server.clusterDir);
    cleanups.splice(1, 0, () => rm(dirname(server.clusterDir), { recursive: true, force: true }));
  }
  expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('requires a password', async () => {
  const server = await start(await folder(0o755));
  await expect(query(server.url.replace(/:[^:@/]+@/, ':wrong@'), 'select 1')).rejects.toThrow(/password/);
});

test('ten processes may migrate concurrently; each migration runs once', async () => {
  const server = await start(await folder(0o755));
  const url = await server.database('shared');
  const databases = Array.from({ length: 10 }, () =>
    connectDatabase({ url, schema: 'venue', maxConnections: 1, log: silentLog }),
  );
  const done = await Promise.all(databases.map((db) => migrate(db, VENUE_MIGRATIONS)));
  expect(done.flat()).toEqual(VENUE_MIGRATIONS.map(({ id }) => id));
  await Promise.all(databases.map((db) => db.close()));
});

test('a stopped server is an UpstreamError without SQL or password, and the pool recovers', async () => {
  const dir = await folder(0o755);
  const server = await start(dir);
  const db = connectDatabase({ url: server.url, schema: 'public', log: silentLog });
  expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
  await server.kill();
  const error = await db
    .query('select secret_column from nowhere')
    .catch((caught: unknown) => caught as Error);
  expect(error).toMatchObject({ name: 'UpstreamError', code: 'database_unavailable', retry: 'later' });
  expect(JSON.stringify(error) + (error as Error).message).not.toMatch(
    /secret_column|password|postgres:\/\//,
  );
  const again = await startEmbeddedPostgres({
    dataDir: dir,
    port: server.port,
    log: silentLog,
    settings: { fsync: 'off' },
  });
  cleanups.push(() => again.stop());
  await expect.poll(() => db.query('select 2 as two').catch(() => 'not yet')).toEqual([{ two: 2 }]);
  await db.close();
});
