/**
 * The demo as a child of the test: started, awaited, killed and restarted as a user would, and never
 * outliving the test.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../../src/apps/demo/manifest.ts';
import { PROGRAM } from '../support/build.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const READY_TIMEOUT_MS = 120_000;

export interface DemoProcess {
  manifest(): Manifest;
  pid(): number;
  /** SIGKILL of the supervisor itself, then the same command again, which continues where it stopped. */
  killAndStartAgain(): Promise<void>;
  stop(): Promise<number>;
  output(): string;
}

export async function startDemo({ dataDir, port }: { dataDir: string; port: number }): Promise<DemoProcess> {
  const path = join(dataDir, 'demo.json');
  let output = '';
  let child: ChildProcess;

  async function launch(): Promise<void> {
    child = spawn(
      process.execPath,
      [PROGRAM, 'demo', '--quiet-market', '--data-dir', dataDir, '--port', String(port)],
      { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const deadline = performance.now() + READY_TIMEOUT_MS;
    // A killed demo leaves its manifest until the next demo removes it, so only one that names our own child
    // counts.
    while (!(existsSync(path) && output.includes('ready after'))) {
      if (child.exitCode !== null || performance.now() > deadline)
        throw new Error(`The demo did not get ready:\n${output}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  await launch();
  const exited = () =>
    new Promise<number>((resolve) =>
      child.exitCode === null && child.signalCode === null
        ? child.once('exit', (code) => resolve(code ?? 128))
        : resolve(child.exitCode ?? 128),
    );
  const emergency = () => void child.kill('SIGKILL');
  process.once('exit', emergency);
  return {
    manifest: () => JSON.parse(readFileSync(path, 'utf8')) as Manifest,
    pid: () => child.pid ?? 0,
    async killAndStartAgain() {
      const gone = exited();
      child.kill('SIGKILL');
      await gone;
      output = '';
      await launch();
    },
    async stop() {
      process.off('exit', emergency);
      const gone = exited();
      child.kill('SIGTERM');
      return gone;
    },
    output: () => output,
  };
}
