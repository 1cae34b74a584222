/** Starts a real PgBouncer before a test's PostgreSQL. */

import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../src/adapters/postgres/embedded/embedded.ts';
import { unprivilegedUser } from '../../src/adapters/postgres/embedded/unprivileged.ts';
import { spawnWatched } from '../../src/adapters/process/parent-watchdog.ts';

export interface PgBouncer {
  /** Returns the given URL, through the pooler. */
  through(url: string): string;
  stop(): Promise<void>;
}

/** `settings` are lines of its section `[pgbouncer]`. */
export async function startPgBouncer(
  serverUrl: string,
  mode: 'session' | 'transaction' | 'statement',
  settings: Record<string, string> = {},
): Promise<PgBouncer> {
  const { hostname, port: serverPort, username, password } = new URL(serverUrl);
  const [port, folder, user] = await Promise.all([
    freePort(),
    mkdtemp(join(tmpdir(), 'firmquote-pgbouncer-')),
    unprivilegedUser(),
  ]);
  const file = join(folder, 'pgbouncer.ini');
  const lines = Object.entries({
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    default_pool_size: '50',
    ...settings,
  }).map(([name, value]) => `${name} = ${value}`);
  await writeFile(
    file,
    [
      '[databases]',
      `* = host=${hostname} port=${serverPort} user=${username} password=${password}`,
      '[pgbouncer]',
      ...lines,
      '',
    ].join('\n'),
    { mode: 0o600 },
  );
  // PgBouncer refuses to run as root.
  await chmod(folder, 0o711);
  if (user) await chown(file, user.uid, user.gid);
  const said: string[] = [];
  const child = await spawnWatched('pgbouncer', [file], {
    cwd: '/',
    ...(user && { uid: user.uid, gid: user.gid }),
    // It gives open connections no time, unlike with SIGINT.
    stopSignal: 'TERM',
    onLine: (line) => void said.push(line),
  });
  const through = (url: string): string => {
    const pooled = new URL(url);
    [pooled.hostname, pooled.port] = ['127.0.0.1', String(port)];
    return pooled.toString();
  };
  for (;;) {
    const client = new pg.Client({ connectionString: through(serverUrl) });
    client.on('error', () => {});
    const answered = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => {});
    if (answered) break;
    if (child.hasExited())
      throw new Error(`pgbouncer did not start (apt-get install pgbouncer): ${said.join('\n')}`);
    await new Promise((done) => setTimeout(done, 20));
  }
  return {
    through,
    async stop() {
      await child.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
