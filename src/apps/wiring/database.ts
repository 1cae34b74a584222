/** Opens PostgreSQL: the operator's server by URL, or an embedded one. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RequestError, UpstreamError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { readSecretFile } from '../../adapters/keystore/file.ts';
import { startEmbeddedPostgres } from '../../adapters/postgres/embedded/embedded.ts';
import { checkSchema, type Migration, migrate, SchemaError } from '../../adapters/postgres/migrate.ts';
import { connectDatabase, type Database } from '../../adapters/postgres/pool.ts';
import { requireOwnSessions } from '../../adapters/postgres/pooler.ts';
import { requireTrustedPath } from '../../adapters/system/trusted-path.ts';
import type { Life } from './process.ts';
import { untilUp } from './until-up.ts';
import { lockDirectory } from './directory-lock.ts';
import { expand, type SecretContext } from './keys.ts';

export interface DatabaseSection {
  url: string | null;
  embeddedDir: string;
  name: string;
  maxConnections: number;
}

const SCHEMA_WATCH_MS = 5_000;

interface DatabaseTools {
  life: Life;
  log: Log;
  secrets: SecretContext;
}

/** Waits for a server that is down. */
export async function openDatabase(
  section: DatabaseSection,
  { schema, migrations }: { schema: string; migrations: readonly Migration[] },
  tools: DatabaseTools & { metrics: Metrics },
): Promise<Database> {
  const { life, log, metrics } = tools;
  const url = await databaseUrl(section, tools);
  const db = connectDatabase({ url, schema, maxConnections: section.maxConnections, log, metrics });
  life.onStop('database connections', () => db.close());
  const prepare = async () => {
    await requireOwnSessions(url);
    return migrate(db, migrations);
  };
  const applied = await untilUp(prepare, { life, log, what: 'the database' });
  if (applied.length > 0) log.info({ applied }, 'the database schema was migrated');
  watchSchema(db, migrations, life);
  return db;
}

function watchSchema(db: Database, migrations: readonly Migration[], life: Life): void {
  const timer = setInterval(() => {
    checkSchema(db, migrations).catch((error: unknown) => {
      if (error instanceof SchemaError) life.stop(error.message, 1);
    });
  }, SCHEMA_WATCH_MS);
  timer.unref();
  life.onStop('schema check', () => clearInterval(timer));
}

async function databaseUrl(section: DatabaseSection, { life, log, secrets }: DatabaseTools): Promise<string> {
  const given = givenUrl(section, secrets);
  if (given !== undefined) {
    secrets.redactor.hide(given);
    return given;
  }
  const dir = join(section.embeddedDir, section.name);
  life.onStop('data directory lock', await lockDirectory(dir));
  const server = await startEmbeddedPostgres({ dataDir: dir, log: log.child({ part: 'postgres' }) });
  life.onStop('embedded PostgreSQL', () => server.stop());
  void server.exited.then((code) => {
    if (!life.stopping) life.stop(`the embedded PostgreSQL exited with code ${code}`, 1);
  });
  const url = await server.database(section.name);
  secrets.redactor.hide(new URL(url).password);
  log.info(
    { dataDir: dir, port: server.port },
    'embedded PostgreSQL is running; set DATABASE_URL to use another server',
  );
  return url;
}

function givenUrl(section: DatabaseSection, secrets: SecretContext): string | undefined {
  const given =
    secrets.env['DATABASE_URL'] ?? (section.url === null ? undefined : expand(section.url, secrets));
  return given === '' ? undefined : given;
}

/** The configured server, or the embedded one if it runs. Starts nothing. */
export async function runningDatabaseUrl(
  section: DatabaseSection,
  secrets: SecretContext,
): Promise<string | undefined> {
  return (
    givenUrl(section, secrets) ??
    (await runningUrl(join(section.embeddedDir, section.name), section.name).catch(() => undefined))
  );
}

/**
 * Returns the URL of the configured server, of the running embedded one, or of one started for this command.
 */
async function borrowDatabaseUrl(
  section: DatabaseSection,
  { log, secrets }: Omit<DatabaseTools, 'life'>,
): Promise<{ url: string; release(): Promise<void> }> {
  const given = givenUrl(section, secrets);
  if (given !== undefined) return { url: given, release: async () => {} };
  const dir = join(section.embeddedDir, section.name);
  const unlock = await lockDirectory(dir).catch((error: unknown) => {
    if (error instanceof RequestError && error.code === 'data_dir_in_use') return undefined;
    throw error;
  });
  if (!unlock) return { url: await runningUrl(dir, section.name), release: async () => {} };
  const server = await startEmbeddedPostgres({ dataDir: dir, log }).catch(async (error: unknown) => {
    await unlock();
    throw error;
  });
  return {
    url: await server.database(section.name),
    async release() {
      await server.stop();
      await unlock();
    },
  };
}

export async function withToolDatabase<T>(
  section: DatabaseSection,
  {
    schema,
    maxConnections = 2,
    ...tools
  }: Omit<DatabaseTools, 'life'> & { schema: string; maxConnections?: number },
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const { url, release } = await borrowDatabaseUrl(section, tools);
  const db = connectDatabase({ url, schema, maxConnections, log: tools.log });
  try {
    await requireOwnSessions(url);
    return await work(db);
  } finally {
    await db.close();
    await release();
  }
}

/** PostgreSQL writes its port into line 4 of postmaster.pid. */
async function runningUrl(dir: string, name: string): Promise<string> {
  await requireTrustedPath(join(dir, 'LOCATION'));
  const elsewhere = await readFile(join(dir, 'LOCATION'), 'utf8').catch(() => '');
  const pidFile = await readFile(join(elsewhere.trim() || join(dir, 'pg'), 'postmaster.pid'), 'utf8').catch(
    () => '',
  );
  const password = await readSecretFile(join(dir, 'postgres.password')).catch(() => '');
  const port = Number(pidFile.split('\n')[3]);
  if (!Number.isInteger(port) || port <= 0 || password === '')
    throw new UpstreamError(`The embedded database in ${dir} is starting or stopping. Try again shortly.`, {
      code: 'database_unavailable',
    });
  return `postgres://firmquote:${password.trim()}@127.0.0.1:${port}/${name}`;
}
