/** Starts a real redis-server for a test file. Its content ends with it, or stays where a test needs that. */

import { execFileSync } from 'node:child_process';
import { freePort } from '../../src/adapters/postgres/embedded/embedded.ts';
import { spawnWatched } from '../../src/adapters/process/parent-watchdog.ts';

export interface TestRedis {
  url: string;
  port: number;
  flush(): void;
  stop(): Promise<void>;
  /** Kills it with SIGKILL: unwritten data is lost. */
  kill(): Promise<void>;
}

/**
 * Starts a server; on the port of an earlier one it replaces that one. With a `folder` every command is
 * written there and read again by the next server.
 */
export async function startRedis({
  port: wanted,
  folder,
}: { port?: number; folder?: string } = {}): Promise<TestRedis> {
  const port = wanted ?? (await freePort());
  const kept =
    folder === undefined
      ? ['--appendonly', 'no']
      : ['--appendonly', 'yes', '--appendfsync', 'always', '--dir', folder];
  const child = await spawnWatched(
    'redis-server',
    [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      ...kept,
      '--maxmemory-policy',
      'noeviction',
    ],
    { cwd: '/tmp', graceMs: 2_000 },
  );
  const cli = (...words: string[]) =>
    execFileSync('redis-cli', ['-p', String(port), ...words], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }).toString();
  const deadline = performance.now() + 10_000;
  for (;;) {
    try {
      if (cli('ping').startsWith('PONG')) break;
    } catch {
      if (child.hasExited() || performance.now() > deadline)
        throw new Error('redis-server did not start; is it installed? (apt-get install redis-server)');
      await new Promise((done) => setTimeout(done, 20));
    }
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    flush: () => void cli('flushall'),
    stop: () => child.stop(),
    kill: () => child.kill(),
  };
}
