/** Forward-only migrations under a lock. Programs of the previous release keep working on the result. */

import { createHash } from 'node:crypto';
import { InvariantError, RequestError } from '../../domain/errors.ts';
import type { Database, Queryable } from './pool.ts';

export interface Migration {
  /** `<room>-<number>-<what>`; never changes once released. */
  id: string;
  /** Never changes once released: its checksum is stored where it ran. */
  sql: string;
  /**
   * Programs without this migration refuse to start, and running ones stop. Without `contract` a migration
   * may only add (expand). Remove things one release after their last use.
   */
  contract?: true;
}

const LOCK_KEY = 7_163_001;
/** Waiting longer for a busy table would block all queries queued behind us. */
const LOCK_TIMEOUT_MS = 4_000;

/** Returns the ids of what was done. Throws `SchemaError` when this program must not work on the schema. */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<string[]> {
  if (!/^[a-z][a-z0-9_]{0,40}$/.test(database.schema))
    throw new InvariantError(
      `"${database.schema}" is not a schema name. Use lower-case letters, digits and _.`,
    );
  return database.transaction(async (session) => {
    await session.query('set local statement_timeout = 0');
    await lockMigrations(session);
    await session.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await prepare(session, database.schema);
    const done = await readDone(session);
    requireLivable(done, migrations);
    const due = migrations.filter(({ id }) => !done.some((row) => row.id === id));
    for (const { id, sql, contract = false } of due) {
      await session.query(sql);
      await session.query('insert into migration (id, sha256, contract) values ($1, $2, $3)', [
        id,
        checksum(sql),
        contract,
      ]);
    }
    return due.map(({ id }) => id);
  });
}

/** Throws `SchemaError` once another program has changed the schema incompatibly. */
export async function checkSchema(database: Queryable, migrations: readonly Migration[]): Promise<void> {
  requireLivable(await readDone(database), migrations);
}

interface Done {
  id: string;
  /** null: older than checksums. */
  sha256: string | null;
  contract: boolean;
  [column: string]: unknown;
}

async function prepare(session: Queryable, schema: string): Promise<void> {
  await session.query(`create schema if not exists ${schema}`);
  await session.query(
    'create table if not exists migration (id text primary key, applied_at timestamptz not null ' +
      'default now())',
  );
  // The statement waits for readers of the table.
  const [row] = await session.query(
    `select 1 from information_schema.columns where table_schema = $1 and table_name = 'migration' ` +
      `and column_name = 'contract'`,
    [schema],
  );
  if (!row)
    await session.query(
      'alter table migration add column sha256 text, add column contract boolean not null default false',
    );
}

const readDone = (session: Queryable): Promise<Done[]> =>
  session.query<Done>('select id, sha256, contract from migration');

async function lockMigrations(session: Queryable): Promise<void> {
  await session.query('select pg_advisory_xact_lock($1)', [LOCK_KEY]);
}

function requireLivable(done: readonly Done[], migrations: readonly Migration[]): void {
  const known = new Map(migrations.map(({ id, sql }) => [id, sql]));
  for (const { id, sha256, contract } of done) {
    const sql = known.get(id);
    if (sql === undefined && contract) {
      throw new SchemaError(
        `A newer firmquote has changed this database ("${id}") in a way that this version cannot ` +
          'work with. Start the newer version.',
        id,
      );
    }
    if (sql !== undefined && sha256 !== null && sha256 !== checksum(sql)) {
      throw new SchemaError(
        `Migration "${id}" of this version is not the one that ran on this database (its text has ` +
          'changed since). Start the version that made the database, or bring back the migration as it ' +
          'was: add a new one instead.',
        id,
      );
    }
  }
}

const checksum = (sql: string): string => createHash('sha256').update(sql).digest('hex');

export class SchemaError extends RequestError {
  constructor(message: string, id: string) {
    super(message, { code: 'schema', facts: { id } });
  }
}
