/**
 * Starts a real EVM chain for a test file: it mines each transaction without delay by default, and ends with
 * the test.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../../src/adapters/postgres/embedded/embedded.ts';
import { spawnWatched } from '../../src/adapters/process/parent-watchdog.ts';

export interface TestAnvil {
  url: string;
  wsUrl: string;
  chainId: number;
  /** Calls any JSON-RPC method, `anvil_*` and `evm_*` included. */
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
  mine(blocks?: number): Promise<void>;
  /** Moves chain time forward and mines. */
  advance(seconds: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startAnvil({
  chainId,
  blockTimeSeconds = 0,
  args = [],
}: {
  chainId: number;
  blockTimeSeconds?: number;
  args?: readonly string[];
}): Promise<TestAnvil> {
  const port = await freePort();
  // anvil writes state below its home; without one of its own it would fill ours.
  const home = mkdtempSync(join(tmpdir(), 'firmquote-anvil-'));
  const child = await spawnWatched(
    binary(),
    [
      '--port',
      String(port),
      '--chain-id',
      String(chainId),
      '--silent',
      '--prune-history',
      '256',
      ...(blockTimeSeconds > 0 ? ['--block-time', String(blockTimeSeconds)] : []),
      ...args,
    ],
    { env: { PATH: process.env['PATH'], HOME: home, TMPDIR: home }, graceMs: 1_000 },
  );
  const url = `http://127.0.0.1:${port}`;
  const rpc = async <T>(method: string, params: readonly unknown[] = []): Promise<T> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as { result: T; error?: { message: string } };
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  const deadline = performance.now() + 20_000;
  while (
    await rpc('eth_chainId').then(
      () => false,
      () => true,
    )
  ) {
    if (child.hasExited() || performance.now() > deadline) throw new Error('anvil did not start');
    await new Promise((done) => setTimeout(done, 25));
  }
  return {
    url,
    wsUrl: `ws://127.0.0.1:${port}`,
    chainId,
    rpc,
    mine: (blocks = 1) => rpc('anvil_mine', [`0x${blocks.toString(16)}`]),
    async advance(seconds) {
      await rpc('evm_increaseTime', [seconds]);
      await rpc('anvil_mine', ['0x1']);
    },
    async stop() {
      await child.kill();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function binary(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'));
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  return join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'anvil');
}
