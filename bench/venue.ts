/**
 * How many quote requests one venue process answers: HTTP in, fan-out to three solvers over real WebSockets, every signature verified,
 * ranked, sealed, out. Solvers and takers live in a process of their own, on the same two cores.
 */

import { fork } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'node:http';
import { assetId } from '../src/domain/asset.ts';
import type { Chain } from '../src/domain/chain.ts';
import { account } from '../test/support/devnet.ts';
import { startSolver } from '../test/support/solver.ts';
import { startTestVenue } from '../test/support/venue.ts';

const RATES = [200, 400, 800, 1_200] as const;
const SECONDS = Number(process.argv.find((word) => word.startsWith('--seconds='))?.slice(10) ?? 5);

interface Job {
  url: string;
  key: string;
  chain: Chain;
  solvers: { id: string; apiKey: string; n: number }[];
}
interface Figures {
  offered: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  candidates: number;
  refused: number;
}

if (process.send) process.once('message', (job) => void drive(job as Job));
else await measure();

async function measure(): Promise<void> {
  const v = await startTestVenue({ rates: { quotesPerSecond: 1e6, perIpPerSecond: 1e6, openQuotes: 1e9, openNotionalUsd: 1e15 } });
  const key = await v.key('service');
  const solvers = [];
  for (const n of [1, 2, 3]) {
    const solver = await v.solver(n, () => undefined, { inventory: 1_000_000_000n });
    await solver.stop();
    solvers.push({ id: solver.id, apiKey: solver.apiKey, n });
  }
  const child = fork(fileURLToPath(import.meta.url), process.argv.slice(2), { execArgv: process.execArgv });
  const ready = new Promise<void>((resolve) => child.once('message', () => resolve()));
  child.send({ url: v.url, key, chain: v.chain.chain, solvers } satisfies Job);
  await ready;
  const rows: (Figures & { cpuMicrosPerQuote: number })[] = [];
  for (const rate of RATES) {
    const before = process.cpuUsage();
    const figures = await new Promise<Figures>((resolve) => {
      child.once('message', (message) => resolve(message as Figures));
      child.send(rate);
    });
    const { user, system } = process.cpuUsage(before);
    const row = { ...figures, cpuMicrosPerQuote: Math.round((user + system) / (figures.perSecond * SECONDS)) };
    rows.push(row);
    console.log(`offered ${rate}/s: ${row.perSecond.toFixed(0)}/s, p50 ${row.p50Ms.toFixed(1)} ms, p99 ${row.p99Ms.toFixed(1)} ms, ${row.cpuMicrosPerQuote} µs CPU each, ${row.candidates.toFixed(2)} candidates, ${row.refused} refused`);
  }
  child.kill();
  await v.stop();
  const gate = rows.find(({ offered }) => offered === 800) as (typeof rows)[number];
  console.log(JSON.stringify({ bench: 'venue', quotesPerSecond: gate.perSecond, p50Ms: gate.p50Ms, p99Ms: gate.p99Ms, cpuMicrosPerQuote: gate.cpuMicrosPerQuote, rows, machine: { cpus: cpus().length, model: cpus()[0]?.model, node: process.version } }));
}

async function drive({ url, key, chain, solvers }: Job): Promise<void> {
  for (const { id, apiKey, n } of solvers) {
    await startSolver(url, {
      id,
      apiKey,
      lp: account(1_000 + n).address,
      operator: account(2_000 + n),
      chains: [chain],
      corridors: [`${chain.slug}-${chain.slug}`],
      answer: (rfq, make) => make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / BigInt(2_600 + n) }, { validSeconds: 30 }),
    });
  }
  const [usdc, weth] = chain.tokens as [Chain['tokens'][number], Chain['tokens'][number]];
  const body = JSON.stringify({ taker: account(1).address, input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000000' }, output: { asset: assetId({ chainId: chain.id, token: weth.address }) } });
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const ask = () =>
    new Promise<{ ms: number; status: number; text: string }>((resolve, reject) => {
      const started = performance.now();
      const call = request(`${url}/api/v1/rfq/quotes`, { method: 'POST', agent, headers: { 'X-API-Key': key, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ ms: performance.now() - started, status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      });
      call.on('error', reject);
      call.end(body);
    });
  await new Promise((done) => setTimeout(done, 500));
  for (let n = 0; n < 300; n++) await Promise.all([ask(), ask(), ask(), ask()]);
  process.on('message', (rate) => void run(rate as number));
  process.send?.('ready');

  /** Open loop: requests leave on schedule whether or not the last ones are back. */
  async function run(rate: number): Promise<void> {
    const times: number[] = [];
    let [refused, candidates, sampled] = [0, 0, 0];
    const pending: Promise<void>[] = [];
    const started = performance.now();
    for (let n = 0; n < rate * SECONDS; ) {
      const due = Math.min(rate * SECONDS, Math.ceil(((performance.now() - started) / 1000) * rate));
      for (; n < due; n++) {
        const sample = n % 50 === 0;
        pending.push(
          ask().then(({ ms, status, text }) => {
            if (status !== 200) refused++;
            else times.push(ms);
            if (!sample || status !== 200) return;
            sampled++;
            candidates += (JSON.parse(text) as { quotes: unknown[] }).quotes.length;
          }),
        );
      }
      await new Promise((done) => setTimeout(done, 1));
    }
    await Promise.all(pending);
    const seconds = (performance.now() - started) / 1000;
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
    process.send?.({ offered: rate, perSecond: times.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), candidates: candidates / Math.max(1, sampled), refused } satisfies Figures);
  }
}
