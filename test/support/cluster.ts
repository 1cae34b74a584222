/**
 * Before any test: one database cluster. Test files copy it, because `initdb` takes seconds of a core each
 * time.
 */

import { spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/adapters/postgres/embedded/embedded.ts';
import { silentLog } from './silent.ts';

/** Names the folder of the cluster to the processes that run the tests. */
const VARIABLE = 'FIRMQUOTE_TEST_CLUSTER';

export default async function makeCluster(): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'firmquote-cluster-'));
  // Run as root, the database belongs to another user, who must reach its files.
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir, log: silentLog, settings: { fsync: 'off' } });
  await server.stop();
  // Where the database's user cannot reach the temporary folder, its files are elsewhere: nothing is copied.
  const here = server.clusterDir === join(dataDir, 'pg');
  if (here) process.env[VARIABLE] = dataDir;
  return async () => {
    if (!here) await rm(server.clusterDir, { recursive: true, force: true });
    await rm(dataDir, { recursive: true, force: true });
  };
}

/** Copies the cluster into a data directory that has none yet. Without one, PostgreSQL creates its own. */
export async function copyCluster(dataDir: string): Promise<void> {
  const from = process.env[VARIABLE];
  if (from === undefined) return;
  await copyFile(join(from, 'postgres.password'), join(dataDir, 'postgres.password'));
  // `cp -a` keeps owner and mode, which PostgreSQL checks.
  const { status, stderr } = spawnSync('cp', ['-a', join(from, 'pg'), join(dataDir, 'pg')]);
  if (status !== 0) throw new Error(`The cluster could not be copied: ${stderr.toString()}`);
}
