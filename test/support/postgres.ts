/** A real PostgreSQL for a test file: its own server, thrown away with its data. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chmod } from 'node:fs/promises';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/adapters/postgres/embedded/embedded.ts';
import { type Migration, migrate } from '../../src/adapters/postgres/migrate.ts';
import { connectDatabase, type Database } from '../../src/adapters/postgres/pool.ts';
import { copyCluster } from './cluster.ts';
import { silentLog } from './silent.ts';

export interface TestPostgres {
  server: EmbeddedPostgres;
  url: string;
  /** Connects to a schema of a database of its own and migrates it. */
  database(schema: string, migrations: readonly Migration[], name?: string): Promise<Database>;
  /** Closes every database and the server. */
  stop(): Promise<void>;
}

/** `fsync` is off unless the test is about durability. */
export async function startTestPostgres(
  settings: Record<string, string> = { fsync: 'off' },
): Promise<TestPostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'firmquote-pg-'));
  // Run as root, the database belongs to another user, who must reach its files.
  await chmod(dataDir, 0o755);
  await copyCluster(dataDir);
  return onServer(await startEmbeddedPostgres({ dataDir, log: silentLog, settings }), () =>
    rm(dataDir, { recursive: true, force: true }),
  );
}

/** On the caller's server; `clean` runs once the server has stopped. */
export function onServer(
  server: EmbeddedPostgres,
  clean: () => Promise<void>,
  standard = 'test',
): TestPostgres {
  const open: Database[] = [];
  return {
    server,
    url: server.url,
    async database(schema, migrations, name = standard) {
      const db = connectDatabase({ url: await server.database(name), schema, log: silentLog });
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
