/**
 * Backs up one schema of embedded servers, which have no pg_dump, into gzipped lines: a head, per table `=
 * name` and a JSON object per row, then `~` and a tail with counts and the SHA-256 of all lines before it.
 */

import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { RequestError } from '../../domain/errors.ts';
import { requireTrustedPath } from '../system/trusted-path.ts';
import { checkSchema, type Migration, migrate } from './migrate.ts';
import type { Database, Queryable } from './pool.ts';

const FORMAT = 1;
const FETCH = 500;
/** Rows per insert; a row may be large (an LP's ledger of a clean stop). */
const INSERT = 200;

interface Head {
  firmquote: 'backup';
  format: number;
  schema: string;
  takenAtMs: number;
  migrations: string[];
}

interface Tail {
  rows: Record<string, number>;
  sha256: string;
}

export interface BackupFacts {
  schema: string;
  takenAtMs: number;
  rows: Record<string, number>;
}

/** The file gets its name only when it is complete and on disk. */
export async function backUp(db: Database, file: string, nowMs: number): Promise<BackupFacts> {
  const draft = `${file}.part`;
  await requireTrustedPath(draft);
  const rows: Record<string, number> = {};
  try {
    await db.transaction(async (session) => {
      await session.query(
        'set transaction isolation level repeatable read read only; set local statement_timeout = 0; ' +
          'set local idle_in_transaction_session_timeout = 0',
      );
      await rm(draft, { force: true });
      await pipeline(
        Readable.from(lines(session, db.schema, nowMs, rows)),
        createGzip({ level: 6 }),
        createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }),
      );
    });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  return { schema: db.schema, takenAtMs: nowMs, rows };
}

async function* lines(
  session: Queryable,
  schema: string,
  takenAtMs: number,
  rows: Record<string, number>,
): AsyncGenerator<string> {
  const hash = createHash('sha256');
  const hashed = (line: string): string => {
    hash.update(line);
    return `${line}\n`;
  };
  const migrations = (
    await session.query<{ id: string }>('select id from migration order by applied_at, id')
  ).map(({ id }) => id);
  yield hashed(
    JSON.stringify({ firmquote: 'backup', format: FORMAT, schema, takenAtMs, migrations } satisfies Head),
  );
  for (const table of await tablesOf(session, schema)) {
    yield hashed(`= ${table}`);
    rows[table] = 0;
    // A line break between two parts of a JSON column is white space.
    await session.query(
      `declare backup no scroll cursor for select translate(row_to_json(t)::text, E'\\n\\r', '  ') ` +
        `as row from ${table} t`,
    );
    for (;;) {
      const batch = await session.query<{ row: string }>(`fetch ${FETCH} from backup`);
      if (batch.length > 0) yield batch.map(({ row }) => hashed(row)).join('');
      rows[table] += batch.length;
      if (batch.length < FETCH) break;
    }
    await session.query('close backup');
  }
  yield `~ ${JSON.stringify({ rows, sha256: hash.digest('hex') } satisfies Tail)}\n`;
}

const tablesOf = async (session: Queryable, schema: string): Promise<string[]> =>
  (
    await session.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = $1 and tablename <> 'migration' order by 1`,
      [schema],
    )
  ).map(({ name }) => name);

/** Verifies the whole file before writing. `then` runs in the same transaction. */
export async function restoreBackup(
  db: Database,
  file: string,
  migrations: readonly Migration[],
  then: (session: Queryable, head: BackupFacts) => Promise<void>,
): Promise<BackupFacts> {
  await requireTrustedPath(file);
  const { head, tail } = await verify(file);
  if (head.schema !== db.schema)
    throw badBackup(
      `${file} is a backup of "${head.schema}", and this is "${db.schema}". Name the configuration ` +
        'of what was backed up.',
    );
  const unknown = head.migrations.filter((id) => !migrations.some((migration) => migration.id === id));
  if (unknown.length > 0)
    throw badBackup(
      `${file} was made by a newer firmquote, or by one with other tables (${unknown.join(', ')}). ` +
        'Restore it with the version that made it.',
    );
  const facts: BackupFacts = { schema: head.schema, takenAtMs: head.takenAtMs, rows: tail.rows };
  // Recreates the schema of the backup; later migrations then run over the rows.
  await migrate(
    db,
    migrations.filter(({ id }) => head.migrations.includes(id)),
  );
  await checkSchema(db, migrations);
  await db.transaction(async (session) => {
    await session.query('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0');
    const tables = await tablesOf(session, db.schema);
    await requireEmpty(session, tables, file);
    await deferReferences(session, db.schema, true);
    // The backup holds what the triggers have written.
    await runTriggers(session, tables, 'disable');
    await fill(session, file, tables);
    // Deferred foreign keys must be checked before they can be made immediate again.
    await session.query('set constraints all immediate');
    await deferReferences(session, db.schema, false);
    await runTriggers(session, tables, 'enable');
    await moveSequences(session, db.schema);
    await then(session, facts);
  });
  await migrate(db, migrations);
  return facts;
}

async function requireEmpty(session: Queryable, tables: readonly string[], file: string): Promise<void> {
  for (const table of tables) {
    const [row] = await session.query(`select 1 from ${table} limit 1`);
    if (row)
      throw new RequestError(
        `The database is not empty ("${table}" has rows), so ${file} was not restored into it. ` +
          'Restore into a new database.',
        { code: 'not_empty' },
      );
  }
}

async function fill(session: Queryable, file: string, tables: readonly string[]): Promise<void> {
  let table: string | undefined;
  let batch: string[] = [];
  const write = async (): Promise<void> => {
    if (batch.length > 0)
      await session.query(
        `insert into ${table} overriding system value select * from ` +
          `json_populate_recordset(null::${table}, $1::json)`,
        [`[${batch.join(',')}]`],
      );
    batch = [];
  };
  for await (const line of linesIn(file)) {
    if (line.startsWith('= ')) {
      await write();
      table = tables.find((name) => name === line.slice(2));
      if (table === undefined)
        throw badBackup(`${file} holds a table "${line.slice(2)}" that this version does not have.`);
    } else if (table !== undefined && !line.startsWith('~ ')) {
      batch.push(line);
      if (batch.length === INSERT) await write();
    }
  }
  await write();
}

async function runTriggers(
  session: Queryable,
  tables: readonly string[],
  how: 'enable' | 'disable',
): Promise<void> {
  for (const table of tables) await session.query(`alter table ${table} ${how} trigger user`);
}

async function deferReferences(session: Queryable, schema: string, deferred: boolean): Promise<void> {
  const rows = await session.query<{ table: string; name: string }>(
    'select c.conrelid::regclass::text as table, c.conname as name from pg_constraint c join ' +
      `pg_namespace n on n.oid = c.connamespace where n.nspname = $1 and c.contype = 'f'`,
    [schema],
  );
  for (const { table, name } of rows)
    await session.query(
      `alter table ${table} alter constraint ${name} ` +
        `${deferred ? 'deferrable initially deferred' : 'not deferrable'}`,
    );
}

async function moveSequences(session: Queryable, schema: string): Promise<void> {
  const rows = await session.query<{ table: string; column: string }>(
    'select table_name as table, column_name as column from information_schema.columns where ' +
      `table_schema = $1 and is_identity = 'YES'`,
    [schema],
  );
  for (const { table, column } of rows)
    await session.query(
      `select setval(pg_get_serial_sequence('${schema}.${table}', '${column}'), coalesce((select ` +
        `max(${column}) from ${table}), 0) + 1, false)`,
    );
}

async function verify(file: string): Promise<{ head: Head; tail: Tail }> {
  const broken = (why: string) =>
    badBackup(`${file} is not a complete backup (${why}), so nothing was restored. Use another one.`);
  const hash: Hash = createHash('sha256');
  let head: Head | undefined;
  let tail: Tail | undefined;
  let table = '';
  const rows: Record<string, number> = {};
  try {
    for await (const line of linesIn(file)) {
      if (tail) throw broken('something follows its end');
      if (line.startsWith('~ ')) {
        tail = JSON.parse(line.slice(2)) as Tail;
        continue;
      }
      hash.update(line);
      if (head === undefined) head = JSON.parse(line) as Head;
      else if (line.startsWith('= ')) rows[(table = line.slice(2))] = 0;
      else rows[table] = (rows[table] ?? 0) + 1;
    }
  } catch (error) {
    if (error instanceof RequestError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw broken(code === 'ENOENT' ? 'there is no such file' : 'it cannot be read');
  }
  if (head?.firmquote !== 'backup') throw broken('it does not begin like one');
  if (head.format !== FORMAT) throw broken(`its format is ${head.format}`);
  if (tail === undefined) throw broken('its end is missing');
  if (tail.sha256 !== hash.digest('hex') || Object.entries(tail.rows).some(([name, n]) => rows[name] !== n))
    throw broken('its checksum does not hold');
  return { head, tail };
}

async function* linesIn(file: string): AsyncGenerator<string> {
  const source = createReadStream(file);
  const plain = createGunzip();
  // An error of the file must also end the unzipped stream.
  source.on('error', (error) => plain.destroy(error));
  source.pipe(plain);
  for await (const line of createInterface({ input: plain, crlfDelay: Number.POSITIVE_INFINITY })) yield line;
}

const badBackup = (message: string) => new RequestError(message, { code: 'bad_backup' });
