/**
 * Databases on the one PostgreSQL server of a test run. Each world has names of its own; a database with
 * tables is a copy of a template, which the first world that needs these tables migrates.
 */

import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { type Migration, migrate } from '../../src/adapters/postgres/migrate.ts';
import { connectDatabase } from '../../src/adapters/postgres/pool.ts';
import { silentLog } from './silent.ts';

/** Holds the URL of the server; unset where a run has none, such as in benches. */
export const SERVER_VARIABLE = 'FIRMQUOTE_TEST_POSTGRES';

/** Tables that a new database has from the start. */
interface Tables {
  schema: string;
  migrations: readonly Migration[];
}

/** The parts of a PostgreSQL server that worlds use, be it the run's server or one of their own. */
export interface TestServer {
  /** The URL of the database `postgres`. */
  url: string;
  /** Returns the URL of the database with this name, and creates it where there is none. */
  database(name: string, tables?: Tables): Promise<string>;
  /** Stops the server; no connection to any of the databases outlives it. */
  stop(): Promise<void>;
}

/** Returns undefined when the run has no server. */
export function runServer(): TestServer | undefined {
  const url = process.env[SERVER_VARIABLE];
  if (url === undefined) return undefined;
  const prefix = `t${randomBytes(4).toString('hex')}_`;
  const databases = new Map<string, Promise<string>>();
  return {
    url,
    database(name, tables) {
      const known = databases.get(name) ?? createDatabase(url, prefix + name, tables);
      databases.set(name, known);
      return known;
    },
    async stop() {
      const names = [...databases.keys()];
      databases.clear();
      if (names.length === 0) return;
      await withAdmin(url, async (admin) => {
        for (const name of names)
          await admin.query(`drop database if exists ${admin.escapeIdentifier(prefix + name)} with (force)`);
      });
    },
  };
}

async function createDatabase(server: string, name: string, tables: Tables | undefined): Promise<string> {
  const template = tables && tables.migrations.length > 0 ? await templateOf(server, tables) : 'template1';
  await withAdmin(server, (admin) => copyDatabase(admin, template, name));
  return urlOf(server, name);
}

/** The templates that are known to exist, by name. */
const templates = new Map<string, Promise<string>>();

function templateOf(server: string, { schema, migrations }: Tables): Promise<string> {
  const hash = createHash('sha256').update(schema);
  for (const { id, sql } of migrations) hash.update(`\0${id}\0${sql}`);
  const name = `template_${hash.digest('hex').slice(0, 16)}`;
  const known = templates.get(name) ?? makeTemplate(server, name, { schema, migrations });
  templates.set(name, known);
  return known;
}

/** Makes a template in one process; the others wait. */
async function makeTemplate(server: string, name: string, { schema, migrations }: Tables): Promise<string> {
  await withAdmin(server, async (admin) => {
    await admin.query('select pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount) return;
    const draft = `${name}_draft`;
    await admin.query(`drop database if exists ${draft} with (force)`);
    await copyDatabase(admin, 'template1', draft);
    const db = connectDatabase({ url: urlOf(server, draft), schema, log: silentLog });
    await migrate(db, migrations);
    await db.close();
    await admin.query(`alter database ${draft} rename to ${name}`);
  });
  return name;
}

/** `file_copy` takes two thirds of the time of the default, which writes each page to the log. */
const copyDatabase = (admin: pg.Client, template: string, name: string) =>
  admin.query(`create database ${admin.escapeIdentifier(name)} template ${template} strategy file_copy`);

async function withAdmin(server: string, work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

function urlOf(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.toString();
}
