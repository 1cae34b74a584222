/**
 * Measures how long a trade takes, and how many run at the same time: quote, plan, sign, submit, settled at
 * the configured depth, over the public API of a running demo with blocks of one second. The baseline is a
 * token transfer on the same chain to the same depth: no trade can settle sooner.
 */

import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createPublicClient, createWalletClient, erc20Abi, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { WebSocket } from 'ws';
import { createDemoTaker } from '../src/apps/demo/taker.ts';
import type { Manifest } from '../src/apps/demo/manifest.ts';

const IN_FLIGHT = [1, 6, 18] as const;
const option = (name: string, fallback: number): number =>
  Number(process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback);
const SECONDS = option('seconds', 20);
const PORT = option('port', 47_100);
/** The demo's depth on both chains. */
const DEPTH = 2n;

interface Figures {
  tradesPerSecond: number;
  /** The time from asking to settled. */
  p50Ms: number;
  p99Ms: number;
  /** The time of asking only. */
  quoteP50Ms: number;
  /** The time from the accepted submission to settled. */
  settleP50Ms: number;
  settleP99Ms: number;
  refused: number;
}

const folder = mkdtempSync(join(tmpdir(), 'firmquote-bench-'));
const demo = fork(
  resolve('src/apps/cli/main.ts'),
  ['demo', '--quiet-market', '--data-dir', folder, '--port', String(PORT)],
  {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', process.argv.includes('--verbose') ? 2 : 'ignore', 'inherit', 'ipc'],
  },
);
const ended = new Promise<void>((done) => demo.once('exit', () => done()));

try {
  const manifest = await ready(join(folder, 'demo.json'));
  const settled = await settlements(manifest);
  const figures: [number, Figures][] = [];
  for (const inFlight of IN_FLIGHT) figures.push([inFlight, await drive(manifest, settled, inFlight)]);
  const bare = await bareTransfer(manifest);
  for (const [inFlight, of] of figures) {
    console.log(
      `${String(inFlight).padStart(3)} in flight: ${of.tradesPerSecond} trades/s, asked to settled p50 ${of.p50Ms} ms, p99 ${of.p99Ms} ms; the quote alone p50 ${of.quoteP50Ms} ms; accepted to settled p50 ${of.settleP50Ms} ms; ${of.refused} refused`,
    );
  }
  console.log(`bare transfer to depth ${DEPTH}: p50 ${bare} ms`);
  const [, one] = figures[0] as [number, Figures];
  const [, most] = figures.at(-1) as [number, Figures];
  console.log(
    JSON.stringify({
      bench: 'trade',
      inFlight: IN_FLIGHT.at(-1),
      ...most,
      baseline: { what: 'a bare ERC-20 transfer by viem, to the same depth', p50Ms: bare },
      ratio: round(one.settleP50Ms / bare),
      byInFlight: Object.fromEntries(figures),
      machine: {
        cpu: cpus()[0]?.model.trim(),
        cores: cpus().length,
        node: process.version,
        note: 'chains, database, venue, three LPs, attesters and the takers share it',
      },
    }),
  );
} finally {
  demo.kill('SIGINT');
  await Promise.race([ended, pause(15_000)]);
  demo.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

async function ready(path: string): Promise<Manifest> {
  for (let tries = 0; tries < 600; tries++) {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
    } catch {
      if (demo.exitCode !== null) throw new Error('The demo ended before it was ready; its logs say why.');
      await pause(200);
    }
  }
  throw new Error('The demo was not ready after two minutes.');
}

/** Tells when each order settled, from the venue's own stream. */
async function settlements({ venue }: Manifest): Promise<(orderId: string) => Promise<number>> {
  const at = new Map<string, number>();
  const waiting = new Map<string, (atMs: number) => void>();
  const socket = new WebSocket(venue.wsUrl, { headers: { 'x-api-key': venue.keys.service } });
  await new Promise((done, broke) => socket.once('open', done).once('error', broke));
  socket.on('message', (data) => {
    const event = JSON.parse(String(data)) as { type?: string; orderId?: string };
    if (event.orderId === undefined || (event.type !== 'order.settled' && event.type !== 'order.failed'))
      return;
    const now = event.type === 'order.settled' ? performance.now() : Number.NaN;
    at.set(event.orderId, now);
    waiting.get(event.orderId)?.(now);
  });
  socket.send(JSON.stringify({ op: 'subscribe', topics: ['orders'] }));
  return (orderId) => {
    const known = at.get(orderId);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((done, broke) => {
      waiting.set(orderId, done);
      setTimeout(() => broke(new Error(`Order ${orderId} did not settle within a minute.`)), 60_000).unref();
    });
  };
}

/**
 * Drives takers one after the other, `inFlight` at the same time, selling USDC by EIP-3009: the path on which
 * they need neither gas nor set-up.
 */
async function drive(
  manifest: Manifest,
  settled: (orderId: string) => Promise<number>,
  inFlight: number,
): Promise<Figures> {
  const chain = manifest.chains[0] as Manifest['chains'][number];
  const asset = (symbol: string) =>
    `eip155:${chain.id}/erc20:${chain.tokens.find((token) => token.symbol === symbol)?.address ?? ''}`;
  const rpcUrls = new Map(manifest.chains.map(({ id, rpcUrl }) => [id, rpcUrl]));
  const takers = manifest.takers.map(({ privateKey }) =>
    createDemoTaker({
      venueUrl: manifest.venue.url,
      apiKey: manifest.venue.keys.service,
      privateKey,
      rpcUrls,
    }),
  );
  const total: number[] = [];
  const quoting: number[] = [];
  const settling: number[] = [];
  let refused = 0;
  const startedMs = performance.now();
  const until = startedMs + SECONDS * 1000;

  async function worker(index: number): Promise<void> {
    const taker = takers[index % takers.length] as (typeof takers)[number];
    while (performance.now() < until) {
      const askedMs = performance.now();
      try {
        const { quotes, productUnavailable } = await taker.quote({
          input: { asset: asset('USDC'), amount: '500000000' },
          output: { asset: asset('WETH') },
        });
        const quotedMs = performance.now();
        const [candidate] = quotes;
        if (!candidate) throw new Error(productUnavailable?.message ?? 'no quote');
        const { submission } = await taker.prepare(candidate);
        const { id } = await taker.submit(submission);
        const acceptedMs = performance.now();
        const settledMs = await settled(id);
        if (Number.isNaN(settledMs)) throw new Error('failed');
        quoting.push(quotedMs - askedMs);
        settling.push(settledMs - acceptedMs);
        total.push(settledMs - askedMs);
      } catch (error) {
        refused += 1;
        if (refused === 1)
          console.error(`first refusal: ${error instanceof Error ? error.message : String(error)}`);
        await pause(100);
      }
    }
  }

  await Promise.all(Array.from({ length: inFlight }, (_, index) => worker(index)));
  const seconds = (performance.now() - startedMs) / 1000;
  return {
    tradesPerSecond: round(total.length / seconds),
    p50Ms: percentile(total, 0.5),
    p99Ms: percentile(total, 0.99),
    quoteP50Ms: percentile(quoting, 0.5),
    settleP50Ms: percentile(settling, 0.5),
    settleP99Ms: percentile(settling, 0.99),
    refused,
  };
}

/** p50 of a transfer of one unit, sent and then followed until DEPTH blocks stand on it. */
async function bareTransfer({ chains: [chain], takers }: Manifest): Promise<number> {
  const usdc = chain?.tokens.find(({ symbol }) => symbol === 'USDC');
  const [taker] = takers;
  if (!chain || !usdc || !taker) throw new Error('The demo has no USDC or no taker.');
  const transport = http(chain.rpcUrl);
  const reader = createPublicClient({ transport, cacheTime: 0, pollingInterval: 20 });
  const wallet = createWalletClient({ account: privateKeyToAccount(taker.privateKey), transport });
  const spent: number[] = [];
  for (let round = 0; round < 8; round++) {
    const startedMs = performance.now();
    const hash = await wallet.writeContract({
      address: usdc.address,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [wallet.account.address, 1n],
      chain: null,
    });
    await reader.waitForTransactionReceipt({ hash, confirmations: Number(DEPTH) + 1 });
    spent.push(performance.now() - startedMs);
  }
  return percentile(spent, 0.5);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
