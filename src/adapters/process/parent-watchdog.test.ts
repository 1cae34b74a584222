/** The promise of a leash: whatever happens to the parent, the child does not outlive it. */

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { spawnLeashed } from './parent-watchdog.ts';

const folder = mkdtempSync(join(tmpdir(), 'firmquote-leash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Zombies count as gone: they only wait for somebody to read their exit code. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test('lines, exit code and pid are those of the child', async () => {
  const lines: string[] = [];
  const child = await spawnLeashed('/bin/sh', ['-c', 'echo pid $$; echo oops >&2; exit 7'], {
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

test('stop asks with the chosen signal, and insists when it is ignored', async () => {
  const [isUp, up] = heard();
  const polite = await spawnLeashed(
    process.execPath,
    ['-e', 'process.on("SIGINT",()=>process.exit(3));setInterval(()=>{},1e3);console.log("up")'],
    { stopSignal: 'INT', onLine: up },
  );
  await isUp;
  await polite.stop();
  expect(await polite.exited).toBe(3);
  const [isDeaf, deafened] = heard();
  const deaf = await spawnLeashed('/bin/sh', ['-c', 'trap "" TERM; echo up; while :; do sleep 0.05; done'], {
    graceMs: 300,
    onLine: deafened,
  });
  await isDeaf;
  await deaf.stop();
  expect(isRunning(deaf.pid)).toBe(false);
});

test('a program that is not there says so', async () => {
  const child = await spawnLeashed('/nonexistent/program', []);
  expect(await child.exited).toBe(127);
});

test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
  'a parent that ends by %s takes its child along',
  async (signal) => {
    const script = join(folder, `parent-${signal}.mts`);
    const module = resolve(import.meta.dirname, 'parent-watchdog.ts');
    writeFileSync(
      script,
      `import { spawnLeashed } from ${JSON.stringify(module)};\nconst child = await spawnLeashed('/bin/sh', ['-c', 'trap "" HUP; while :; do sleep 0.05; done']);\nconsole.log('pid', child.pid);\nsetInterval(() => {}, 1000);\n`,
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
