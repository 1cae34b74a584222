/** A watched child reports its own output and exit code, and never outlives its parent. */

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { spawnWatched } from './parent-watchdog.ts';

const folder = mkdtempSync(join(tmpdir(), 'firmquote-watchdog-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns false for zombies too: they only wait for another process to read their exit code. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test('output, exit code and pid are those of the child, not of its watcher', async () => {
  const lines: string[] = [];
  const child = await spawnWatched('/bin/sh', ['-c', 'echo pid $$; echo oops >&2; exit 7'], {
    onLine: (line, stream) => lines.push(`${stream}: ${line}`),
  });
  expect(await child.exited).toBe(7);
  await expect.poll(() => lines.toSorted()).toEqual(['stderr: oops', `stdout: pid ${child.pid}`]);
  expect(child.hasExited()).toBe(true);
});

/** A promise, and what keeps it. */
function heard(): [Promise<void>, () => void] {
  let keep = () => {};
  return [new Promise((done) => (keep = done)), () => keep()];
}

test('stop sends the chosen signal, and SIGKILL when the child ignores it', async () => {
  const [isUp, up] = heard();
  const polite = await spawnWatched(
    process.execPath,
    ['-e', 'process.on("SIGINT",()=>process.exit(3));setInterval(()=>{},1e3);console.log("up")'],
    { stopSignal: 'INT', onLine: up },
  );
  await isUp;
  await polite.stop();
  expect(await polite.exited).toBe(3);
  const [isDeaf, deafened] = heard();
  const deaf = await spawnWatched('/bin/sh', ['-c', 'trap "" TERM; echo up; while :; do sleep 0.05; done'], {
    graceMs: 300,
    onLine: deafened,
  });
  await isDeaf;
  await deaf.stop();
  expect(isRunning(deaf.pid)).toBe(false);
});

test('a missing program exits with 127', async () => {
  const child = await spawnWatched('/nonexistent/program', []);
  expect(await child.exited).toBe(127);
});

test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
  'a parent that ends by %s takes its child along',
  async (signal) => {
    const script = join(folder, `parent-${signal}.mts`);
    const module = resolve(import.meta.dirname, 'parent-watchdog.ts');
    writeFileSync(
      script,
      `import { spawnWatched } from ${JSON.stringify(module)};\nconst child = await spawnWatched('/bin/sh', ['-c', 'trap "" HUP; while :; do sleep 0.05; done']);\nconsole.log('pid', child.pid);\nsetInterval(() => {}, 1000);\n`,
    );
    const parent = spawn(process.execPath, ['--import', 'tsx', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: resolve(import.meta.dirname, '../../..'),
    });
    const pid = await new Promise<number>((done) =>
      parent.stdout.on('data', (chunk: Buffer) => done(Number(/pid (\d+)/.exec(chunk.toString())?.[1]))),
    );
    expect(isRunning(pid)).toBe(true);
    parent.kill(signal);
    await expect.poll(() => isRunning(pid), { timeout: 40_000 }).toBe(false);
  },
);
