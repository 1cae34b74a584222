/**
 * Checks the database and Redis: versions, settings, and whether a pooler in between is in the right mode.
 */

import { Redis } from 'ioredis';
import { checkSchema, type Migration } from '../../adapters/postgres/migrate.ts';
import { connectDatabase, type Database } from '../../adapters/postgres/pool.ts';
import { requireOwnSessions } from '../../adapters/postgres/pooler.ts';
import type { Log } from '../../ports/log.ts';
import { attempt, failure, messageOf, ok, type Finding, warning } from './finding.ts';

const OLDEST_POSTGRES = 14;
const OLDEST_REDIS = 6.2;
/** Connections beside `maxConnections`: events, the queue, exports. */
const MORE_CONNECTIONS = 40;
const SKEW_MS = 2_000;

/** Reads only. `url` is undefined for an embedded server that does not run now. */
export async function checkDatabase(
  url: string | undefined,
  {
    schema,
    tables,
    maxConnections,
  }: { schema: string; tables: readonly Migration[]; maxConnections: number },
  { log, nowMs }: { log: Log; nowMs: () => number },
): Promise<Finding[]> {
  if (url === undefined)
    return [
      warning(
        'database',
        schema,
        'the embedded PostgreSQL, which does not run now, so it was not looked at',
        'Run this again while the process runs. For production, set DATABASE_URL to a server of your own',
      ),
    ];
  const sessions = await attempt(
    'database',
    'sessions',
    async () => {
      await requireOwnSessions(url);
      return ok('database', 'sessions', 'each connection has its own; notifications arrive');
    },
    'Check DATABASE_URL, and that the server runs and lets this machine in',
  );
  // In another session mode every other answer would be of nobody's session.
  if (sessions.some(({ verdict }) => verdict === 'failure')) return sessions;
  const db = connectDatabase({ url, schema, maxConnections: 1, log });
  try {
    return [
      ...sessions,
      ...(await attempt('database', 'server', () => server(db, maxConnections, nowMs), 'Check the server')),
      await schemaRow(db, schema, tables),
    ];
  } finally {
    await db.close();
  }
}

async function server(db: Database, maxConnections: number, nowMs: () => number): Promise<Finding[]> {
  const askedMs = nowMs();
  const [row] = await db.query<{
    version: number;
    fsync: string;
    full_page_writes: string;
    synchronous_commit: string;
    most: number;
    used: number;
    standby: boolean;
    now_ms: number;
  }>(
    `select current_setting('server_version_num')::int as version, current_setting('fsync') as fsync,
       current_setting('full_page_writes') as full_page_writes,
       current_setting('synchronous_commit') as synchronous_commit,
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
       (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
       pg_is_in_recovery() as standby, (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`,
  );
  if (row === undefined) return [failure('database', 'server', 'gave no answer', 'Check the server')];
  const version = Math.floor(row.version / 10_000);
  const rows = [
    version < OLDEST_POSTGRES
      ? failure(
          'database',
          'server',
          `is PostgreSQL ${version}`,
          `Use PostgreSQL ${OLDEST_POSTGRES} or newer`,
        )
      : ok('database', 'server', `PostgreSQL ${version}`),
  ];
  if (row.standby)
    rows.push(
      failure('database', 'server', 'is a standby, which takes no writes', 'Name the primary server'),
    );
  const lossy = (['fsync', 'full_page_writes', 'synchronous_commit'] as const).filter(
    (name) => row[name] === 'off',
  );
  rows.push(
    lossy.length > 0
      ? failure(
          'database',
          'durability',
          `${lossy.join(', ')} off: a crash of the server loses what was promised`,
          'Set them to on in postgresql.conf',
        )
      : ok('database', 'durability', `fsync on, synchronous_commit ${row.synchronous_commit}`),
  );
  const free = row.most - row.used;
  rows.push(
    free < maxConnections + MORE_CONNECTIONS
      ? warning(
          'database',
          'connections',
          `${free} are free, and a process may use ${maxConnections + MORE_CONNECTIONS}`,
          'Raise max_connections of the server, or lower database.maxConnections',
        )
      : ok('database', 'connections', `${free} free`),
  );
  const skewMs = row.now_ms - (askedMs + nowMs()) / 2;
  if (Math.abs(skewMs) > SKEW_MS)
    rows.push(
      warning(
        'clock',
        'database',
        `our clock is ${Math.abs(Math.round(skewMs / 1_000))} s ${skewMs > 0 ? 'behind' : 'ahead of'} the server's`,
        'Check that NTP runs on both machines',
      ),
    );
  return rows;
}

async function schemaRow(db: Database, schema: string, tables: readonly Migration[]): Promise<Finding> {
  const [found] = await db.query<{ made: boolean; may: boolean }>(
    `select to_regclass($1) is not null as made, has_database_privilege(current_database(), 'CREATE') as may`,
    [`${schema}.migration`],
  );
  if (found?.made === true) {
    try {
      await checkSchema(db, tables);
      return ok('database', schema, 'its tables are those of this version, or older ones that it migrates');
    } catch (error) {
      return failure('database', schema, messageOf(error), 'Start the version that fits');
    }
  }
  return found?.may === true
    ? ok('database', schema, 'is empty: the first start makes the tables')
    : failure(
        'database',
        schema,
        'does not exist, and this user may not create it',
        'Grant CREATE on the database to the user of DATABASE_URL',
      );
}

/** `use` says what for. */
export async function checkRedis(url: string, use: string): Promise<Finding[]> {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
  redis.on('error', () => {});
  try {
    await redis.connect();
    const [info, policy] = await Promise.all([
      redis.info(),
      redis.config('GET', 'maxmemory-policy').catch(() => undefined),
    ]);
    const version = /redis_version:(\d+\.\d+)/.exec(info)?.[1] ?? '0';
    const evicts = Array.isArray(policy) && policy[1] !== 'noeviction';
    return [
      Number(version) < OLDEST_REDIS
        ? failure('redis', use, `is Redis ${version}`, `Use Redis ${OLDEST_REDIS} or newer`)
        : /role:slave/.test(info)
          ? failure('redis', use, 'is a replica, which takes no writes', 'Name the primary server')
          : ok('redis', use, `Redis ${version}`),
      evicts
        ? failure(
            'redis',
            use,
            `maxmemory-policy is ${String((policy as unknown[])[1])}: it may drop any key`,
            'Set maxmemory-policy to noeviction',
          )
        : policy === undefined
          ? warning('redis', use, 'does not tell its maxmemory-policy', 'Check that it is noeviction')
          : ok('redis', use, 'maxmemory-policy is noeviction'),
    ];
  } catch (error) {
    // A message may quote the URL.
    const { code, message } = error as { code?: string; message: string };
    const why = code ?? (/NOAUTH|WRONGPASS/.exec(message)?.[0] || 'no connection');
    return [failure('redis', use, `did not answer (${why})`, 'Check its URL and password, and that it runs')];
  } finally {
    redis.disconnect();
  }
}
