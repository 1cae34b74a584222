/** A local EVM chain that saves its state after every block. */

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { UpstreamError } from '../../../domain/errors.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import { type WatchedChild, spawnWatched } from '../../../adapters/process/parent-watchdog.ts';
import { devPackageFile } from '../../../adapters/system/dev-packages.ts';

interface AnvilOptions {
  chainId: number;
  port: number;
  blockSeconds: number;
  dir: string;
  onLine?: (line: string) => void;
}

export async function startAnvil({ chainId, port, blockSeconds, dir, onLine }: AnvilOptions) {
  await mkdir(dir, { recursive: true });
  const state = join(dir, 'state.json');
  const saved = await readFile(stateFile(dir)).then(
    (bytes) => promisify(gunzip)(bytes),
    () => undefined,
  );
  if (saved) await writeFile(state, saved);
  const child = await spawnWatched(
    anvilBinary(),
    [
      ...[
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
        '--chain-id',
        String(chainId),
        '--block-time',
        String(blockSeconds),
      ],
      // `--prune-history` without a number keeps no state; without the option anvil writes 116 KB per block.
      ...['--prune-history', '256', '--accounts', '0', '--quiet'],
      ...(saved ? ['--load-state', state] : []),
    ],
    {
      env: { PATH: process.env['PATH'], HOME: dir, TMPDIR: dir },
      stopSignal: 'INT',
      graceMs: 2_000,
      onLine: (line) => onLine?.(line),
    },
  );
  const rpcUrl = `http://127.0.0.1:${port}`;
  const answered = await untilAnswers(rpcUrl, child);
  if (answered === undefined)
    throw new UpstreamError(
      `The chain ${chainId} did not start on port ${port}. Is the port taken? Choose others with --port.`,
      { code: 'chain_unavailable' },
    );
  if (answered !== chainId) {
    await child.stop();
    throw new UpstreamError(
      `Port ${port} is taken by another chain (${answered}). Choose other ports with --port.`,
      { code: 'port_unavailable' },
    );
  }
  return { ...child, rpcUrl };
}

const MOST_PAUSE_MS = 1_000;

/** Saves less often when saving takes long. A kill must not lose more blocks than the chain's depth. */
export function keepState(rpcUrl: () => string, dir: string): { saveNow(): Promise<void>; stop(): void } {
  let stopped = false;
  let savedBlock = '';
  let saving: Promise<unknown> = Promise.resolve();
  /** Saves the state; saves run one at a time, because they share a draft file. */
  function save(): Promise<number> {
    const next = saving.then(write, write);
    saving = next.catch(() => {});
    return next;
  }
  async function write(): Promise<number> {
    const block = String(await rpc(rpcUrl(), 'eth_blockNumber'));
    if (block === savedBlock) return 0;
    const before = performance.now();
    const dump = String(await rpc(rpcUrl(), 'anvil_dumpState'));
    const draft = `${stateFile(dir)}.draft`;
    await writeFile(draft, Buffer.from(dump.slice(2), 'hex'));
    await rename(draft, stateFile(dir));
    savedBlock = block;
    return performance.now() - before;
  }
  const loop = async () => {
    for (let tookMs = 0; !stopped;) {
      await new Promise((resolve) =>
        setTimeout(resolve, Math.min(MOST_PAUSE_MS, Math.max(200, tookMs * 10))),
      );
      if (!stopped) tookMs = await save().catch(() => 0);
    }
  };
  void loop();
  return {
    saveNow: async () => void (await save()),
    stop: () => {
      stopped = true;
    },
  };
}

const stateFile = (dir: string): string => join(dir, 'state.gz');

async function untilAnswers(rpcUrl: string, child: WatchedChild): Promise<number | undefined> {
  for (let attempt = 0; attempt < 500 && !child.hasExited(); attempt++) {
    const chainId = await rpc(rpcUrl, 'eth_chainId').catch(() => undefined);
    if (chainId !== undefined && !child.hasExited()) return Number(chainId);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return undefined;
}

export async function rpc(url: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(10_000),
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (answer.error)
    throw new UpstreamError(`The chain refused ${method}: ${answer.error.message}`, { code: 'rpc' });
  return answer.result;
}

export async function sendUnlocked(
  url: string,
  tx: { from: Address; to: Address; data: Hex; gas: Hex },
): Promise<void> {
  await rpc(url, 'anvil_impersonateAccount', [tx.from]);
  await rpc(url, 'anvil_setBalance', [tx.from, '0x8ac7230489e80000']);
  await rpc(url, 'eth_sendTransaction', [tx]);
}

/** npm's JavaScript launcher would be a process in between. */
function anvilBinary(): string {
  const cpu = process.arch === 'x64' ? 'amd64' : process.arch;
  const name = `@foundry-rs/anvil-${process.platform === 'win32' ? 'win32' : process.platform}-${cpu}`;
  try {
    const require = createRequire(devPackageFile('@foundry-rs/anvil/package.json'));
    return join(
      dirname(require.resolve(`${name}/package.json`)),
      'bin',
      process.platform === 'win32' ? 'anvil.exe' : 'anvil',
    );
  } catch (cause) {
    throw new UpstreamError(
      `Local chains need anvil, and npm installed none for ${process.platform}-${process.arch}. Install without --omit=optional.`,
      { code: 'anvil_missing', cause },
    );
  }
}
