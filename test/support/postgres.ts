/** Starts a real PostgreSQL for a test file: databases on the run's server, or a server of its own. */

import { rm } from 'node:fs/promises';
import { startEmbeddedPostgres } from '../../src/adapters/postgres/embedded/embedded.ts';
import { type Migration, migrate } from '../../src/adapters/postgres/migrate.ts';
import { connectDatabase, type Database } from '../../src/adapters/postgres/pool.ts';
import { copyCluster, newDataDir } from './cluster.ts';
import { runServer, type TestServer } from './run-server.ts';
import { silentLog } from './silent.ts';

export interface TestPostgres {
  server: TestServer;
  url: string;
  /** Connects to a schema of a database of its own and migrates it. */
  database(schema: string, migrations: readonly Migration[], name?: string): Promise<Database>;
  /** Closes every database; a server of its own ends. */
  stop(): Promise<void>;
}

/** A server that no other world uses. */
export interface OwnServer extends TestServer {
  /** SIGKILL of the server and all its sessions, as `pg_ctl stop -m immediate`. */
  kill(): Promise<void>;
  /** Starts a killed server again, on the same port and with its data. */
  start(): Promise<void>;
}

/** Uses the run's server, where there is one, unless there are settings. */
export async function startTestPostgres(settings?: Record<string, string>): Promise<TestPostgres> {
  return onServer(await (settings ? startOwnServer(settings) : startServer()), async () => {});
}

/** Starts a server for tests that stop or reconfigure it. */
export async function startOwnPostgres(settings?: Record<string, string>): Promise<TestPostgres> {
  return onServer(await startOwnServer(settings), async () => {});
}

/** The run's server, where there is one. */
export async function startServer(): Promise<TestServer> {
  return runServer() ?? (await startOwnServer());
}

/** `fsync` is off unless the test is about durability. */
export async function startOwnServer(
  settings: Record<string, string> = { fsync: 'off' },
): Promise<OwnServer> {
  const dataDir = await newDataDir();
  await copyCluster(dataDir);
  let server = await startEmbeddedPostgres({ dataDir, log: silentLog, settings });
  const { port } = server;
  return {
    url: server.url,
    database: (name) => server.database(name),
    kill: () => server.kill(),
    async start() {
      server = await startEmbeddedPostgres({ dataDir, port, log: silentLog, settings });
    },
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Makes databases on the caller's server; `clean` runs once the server has stopped. */
export function onServer(server: TestServer, clean: () => Promise<void>, standard = 'test'): TestPostgres {
  const open: Database[] = [];
  return {
    server,
    url: server.url,
    async database(schema, migrations, name = standard) {
      const url = await server.database(name, { schema, migrations });
      const db = connectDatabase({ url, schema, log: silentLog });
      open.push(db);
      await migrate(db, migrations);
      return db;
    },
    async stop() {
      await Promise.all(open.map((db) => db.close().catch(() => {})));
      await server.stop();
      await clean();
    },
  };
}
