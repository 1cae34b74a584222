/**
 * PostgreSQL from npm's binaries, the default database. It stops with its parent, and runs as an
 * unprivileged user when we are root.
 */

import { randomBytes } from 'node:crypto';
import { lchown, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import pg from 'pg';
import { UpstreamError } from '../../../domain/errors.ts';
import type { Log } from '../../../ports/log.ts';
import { readSecretFile, replaceSecretFile } from '../../keystore/file.ts';
import { requireTrustedPath } from '../../system/trusted-path.ts';
import { type WatchedChild, spawnWatched } from '../../process/parent-watchdog.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import { isReachable, type SystemUser, unprivilegedUser } from './unprivileged.ts';

interface EmbeddedPostgresOptions {
  /** The cluster lives in `<dataDir>/pg`, or in the folder named by `dataDir/LOCATION`. */
  dataDir: string;
  port?: number;
  log: Log;
  settings?: Record<string, string>;
}

const SETTINGS: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  // Our queries are short, so parallel workers only cost.
  max_parallel_workers_per_gather: '0',
  log_min_messages: 'warning',
  // A dead client must not hold its locks for hours.
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
};

export interface EmbeddedPostgres extends Pick<WatchedChild, 'pid' | 'exited' | 'stop' | 'kill'> {
  /** The URL of the database `postgres`, with its password. */
  url: string;
  port: number;
  clusterDir: string;
  /** Creates a database where it is missing, and returns its URL. */
  database(name: string): Promise<string>;
}

export async function startEmbeddedPostgres({
  dataDir,
  port,
  log,
  settings,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const user = await unprivilegedUser();
  const binaries = await findBinaries(user);
  const home = resolve(dataDir);
  await requireTrustedPath(home);
  await mkdir(home, { recursive: true });
  const clusterDir = await clusterFolder(home, user, log);
  const cluster = { home, clusterDir, user, binaries, log };
  const password = await ensureCluster(cluster, settings?.['fsync'] !== 'off');
  await clearStalePid(clusterDir);
  const listenPort = port ?? (await freePort());
  const url = (database: string) => `postgres://firmquote:${password}@127.0.0.1:${listenPort}/${database}`;
  const server = await launch(cluster, listenPort, { ...SETTINGS, ...settings }, url('postgres'));
  return {
    url: url('postgres'),
    port: listenPort,
    pid: server.pid,
    clusterDir,
    exited: server.exited,
    stop: server.stop,
    kill: server.kill,
    async database(name) {
      await createDatabase(url('postgres'), name);
      return url(name);
    },
  };
}

async function createDatabase(serverUrl: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (!rowCount) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    // 42P04, 23505: another process created it meanwhile.
    if ((error as { code?: string }).code !== '42P04' && (error as { code?: string }).code !== '23505')
      throw error;
  } finally {
    await client.end();
  }
}

async function clusterFolder(home: string, user: SystemUser | undefined, log: Log): Promise<string> {
  const inside = join(home, 'pg');
  if (!user || (await isReachable(home, user))) return inside;
  const elsewhere = join('/var/lib/firmquote', Buffer.from(home).toString('base64url').slice(-60), 'pg');
  await mkdir(dirname(elsewhere), { recursive: true });
  await replaceSecretFile(join(home, 'LOCATION'), `${elsewhere}\n`);
  log.info(
    { clusterDir: elsewhere },
    'the database user cannot access the data directory, so the cluster is in another folder',
  );
  return elsewhere;
}

interface Cluster {
  home: string;
  clusterDir: string;
  user: SystemUser | undefined;
  binaries: Binaries;
  log: Log;
}

/** Renamed into place, so that a crash leaves nothing half done. Returns the password. */
async function ensureCluster(
  { home, clusterDir, user, binaries, log }: Cluster,
  sync: boolean,
): Promise<string> {
  const passwordFile = join(home, 'postgres.password');
  await requireTrustedPath(clusterDir, user && [user.uid]);
  const made = await exists(join(clusterDir, 'PG_VERSION'));
  if (made) return (await readSecretFile(passwordFile)).trim();
  const password = randomBytes(24).toString('base64url');
  await replaceSecretFile(passwordFile, password);
  const draft = `${clusterDir}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  const handover = join(dirname(clusterDir), '.initdb-password');
  await replaceSecretFile(handover, password);
  if (user) await Promise.all([draft, handover].map((path) => lchown(path, user.uid, user.gid)));
  log.info({ clusterDir }, 'creating the database cluster');
  const lines: string[] = [];
  const initdb = await spawnWatched(
    binaries.initdb,
    [
      ...['-D', draft, '-U', 'firmquote', '-A', 'scram-sha-256', `--pwfile=${handover}`, '-E', 'UTF8'],
      ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'],
      ...(sync ? [] : ['--no-sync']),
    ],
    { ...identity(user), onLine: (line) => lines.push(line) },
  );
  const code = await initdb.exited;
  await rm(handover, { force: true });
  if (code !== 0)
    throw new UpstreamError(`The database cluster could not be created: ${lines.slice(-3).join(' ')}`, {
      code: 'database_unavailable',
    });
  await rename(draft, clusterDir);
  return password;
}

async function launch(
  { clusterDir, user, binaries, log }: Cluster,
  port: number,
  settings: Record<string, string>,
  url: string,
): Promise<WatchedChild> {
  // Old backends of a killed server need time to exit; until then a new one refuses to start.
  for (let attempt = 1; ; attempt += 1) {
    const lines: string[] = [];
    const server = await spawnWatched(
      binaries.postgres,
      [
        '-D',
        clusterDir,
        '-p',
        String(port),
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      {
        ...identity(user),
        stopSignal: 'INT',
        onLine(line) {
          lines.push(line);
          if (lines.length > 20) lines.shift();
          log.debug({ line }, 'postgres');
        },
      },
    );
    if (await answers(server, url)) return server;
    await server.kill();
    if (attempt === 20 || !lines.some((line) => /shared memory|lock file|starting up/.test(line))) {
      throw new UpstreamError(
        `PostgreSQL did not start: ${lines.slice(-3).join(' ')} Is another firmquote using this data ` +
          'directory?',
        { code: 'database_unavailable' },
      );
    }
    await sleep(250);
  }
}

/** Crash recovery may delay the first answer; false when the server exits first. */
async function answers(server: WatchedChild, url: string): Promise<boolean> {
  const deadline = performance.now() + 60_000;
  while (!server.hasExited() && performance.now() < deadline) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('select 1');
      return true;
    } catch {
      await sleep(15);
    } finally {
      await client.end().catch(() => {});
    }
  }
  return false;
}

/** Another process may have reused its pid, and PostgreSQL would refuse to start. */
async function clearStalePid(clusterDir: string): Promise<void> {
  const file = join(clusterDir, 'postmaster.pid');
  const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10);
  if (!Number.isInteger(pid)) return;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  if (command !== undefined ? command.includes(clusterDir) : isAlive(pid) && process.platform !== 'linux')
    return;
  await rm(file, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

// `cwd`, because that user may not have access to ours; `env` without our secrets.
const identity = (user: SystemUser | undefined) => ({
  ...(user && { uid: user.uid, gid: user.gid }),
  cwd: '/',
  env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
});
const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === 'string')
    throw new UpstreamError('No free port on 127.0.0.1.', { code: 'no_port' });
  return address.port;
}
