/** Forward-only migrations under a lock, so that any number of replicas may start at once and old ones keep running meanwhile. */

import { InvariantError } from '../../domain/errors.ts';
import type { Database } from './pool.ts';

export interface Migration {
  /** `<room>-<number>-<what>`; never changes once released. */
  id: string;
  /** Expand, then contract in a later release: the version before must be able to run on the result. */
  sql: string;
}

const LOCK_KEY = 7_163_001;

/** Brings the database's schema up to date. Safe to call from every process at every start. */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<string[]> {
  if (!/^[a-z][a-z0-9_]{0,40}$/.test(database.schema)) throw new InvariantError(`"${database.schema}" is no schema name: lower-case letters, digits and _.`);
  return database.transaction(async (session) => {
    // An index over years of history takes as long as it takes.
    await session.query('set local statement_timeout = 0');
    await session.query('select pg_advisory_xact_lock($1)', [LOCK_KEY]);
    await session.query(`create schema if not exists ${database.schema}`);
    await session.query('create table if not exists migration (id text primary key, applied_at timestamptz not null default now())');
    const done = new Set((await session.query<{ id: string }>('select id from migration')).map((row) => row.id));
    const due = migrations.filter(({ id }) => !done.has(id));
    for (const { id, sql } of due) {
      await session.query(sql);
      await session.query('insert into migration (id) values ($1)', [id]);
    }
    return due.map(({ id }) => id);
  });
}
