/**
 * How many submissions one venue process makes durable: seal, taker's signature, chain state and one commit each, on a real chain and
 * PostgreSQL with fsync. Then 500 at once, followed until every one of them has ended. Takers and the solver live in a process of their own.
 *
 *   npm run bench -- submit [--seconds=5]
 */

import { fork } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { createTransactor } from '../src/adapters/evm/transactor.ts';
import { createTxStore } from '../src/adapters/postgres/tx-store.ts';
import { systemClock } from '../src/adapters/system/clock.ts';
import { assetId } from '../src/domain/asset.ts';
import type { Chain } from '../src/domain/chain.ts';
import type { Hex } from '../src/domain/hex.ts';
import { orderDigest } from '../src/domain/order.ts';
import { orderFromMessage, zOrderMessage } from '../src/protocol/wire.ts';
import { createAdvancer } from '../src/venue/advance/advancer.ts';
import { account } from '../test/support/devnet.ts';
import { silentLog, silentMetrics } from '../test/support/silent.ts';
import { startSolver } from '../test/support/solver.ts';
import { type Json, startTestVenue } from '../test/support/venue.ts';
import { type Caller, cpuByProcess, cpuPerUnit, createCaller, type LoadFigures, openLoop, profiled, showCpu, showStatuses, table } from './load.ts';

const RATES = [50, 100, 200, 600] as const;
const GATE = 200;
const BURST = 500;
const SECONDS = Number(process.argv.find((word) => word.startsWith('--seconds='))?.slice(10) ?? 5);

interface Job {
  url: string;
  key: string;
  chain: Chain;
  solver: { id: string; apiKey: string };
}
type Ask = { prepare: number } | { rate: number; seconds: number } | { burst: true };

if (process.send) process.once('message', (job) => void drive(job as Job));
else await measure();

async function measure(): Promise<void> {
  const v = await startTestVenue({ fsync: true, rates: { quotesPerSecond: 1e6, submitsPerSecond: 1e6, perIpPerSecond: 1e6, openQuotes: 1e9, openNotionalUsd: 1e15 } });
  const { chain, usdc } = v.chain;
  const [taker, relayer] = [account(1), account(9_001)];
  await v.chain.fund(taker.address, 1_000_000_000n);
  await v.chain.fund(relayer.address, 0n);
  await v.chain.deposit(taker.address, usdc.address, 1_000_000_000n * 10n ** 6n);
  const known = await v.solver(1, () => undefined, { inventory: 1_000_000_000n });
  await known.stop();
  const child = fork(fileURLToPath(import.meta.url), process.argv.slice(2), { execArgv: process.execArgv });
  const say = <T>(ask: Ask | Job) =>
    new Promise<T>((resolve) => {
      child.once('message', (answer) => resolve(answer as T));
      child.send(ask);
    });
  await say<void>({ url: v.url, key: await v.key('service'), chain, solver: { id: known.id, apiKey: known.apiKey } });

  const rows: (LoadFigures & { cpu: Record<string, number> })[] = [];
  for (const rate of RATES) {
    await say<void>({ prepare: rate * SECONDS });
    const before = cpuByProcess();
    const run = () => say<LoadFigures>({ rate, seconds: SECONDS });
    const figures = await (rate === GATE ? profiled(run) : run());
    rows.push({ ...figures, cpu: cpuPerUnit(before, figures.statuses[200] ?? 0) });
  }

  await say<void>({ prepare: BURST });
  const burst = await say<LoadFigures>({ burst: true });
  const shared = { clock: systemClock, log: silentLog, metrics: silentMetrics };
  const transactor = createTransactor({ chain: v.chain.port, store: createTxStore(v.db), signer: relayer.signer, ...shared }, { owner: 'bench' });
  await transactor.start();
  const queue = { wake: async () => {}, process: async () => {}, close: async () => {} };
  const advancer = createAdvancer({ store: v.store, bus: v.bus, chains: new Map([[chain.id, v.chain.port]]), transactors: new Map([[chain.id, transactor]]), routeVenues: [], attestations: { signatures: async () => undefined }, queue, ...shared }, { owner: 'bench' });
  const startedMs = performance.now();
  await advancer.start();
  let open = Number.POSITIVE_INFINITY;
  while (open > 0) {
    const [row] = await v.db.query<{ n: number }>('select count(*)::int as n from trade_order where not final');
    open = row?.n ?? 0;
    if (performance.now() - startedMs > 240_000) break;
    await v.chain.anvil.mine(1);
    await new Promise((done) => setTimeout(done, 250));
  }
  const ended = await v.db.query<{ status: string; n: number }>('select status, count(*)::int as n from trade_order where final group by status');
  await advancer.stop();
  await transactor.stop();
  child.kill();
  await v.stop();

  const shown = rows.map((row) => [`${row.offered}/s`, row.perSecond, row.p50Ms, row.p99Ms, row.maxMs, showStatuses(row.statuses), showCpu(row.cpu)]);
  console.log(table(['offered', 'accepted/s', 'p50 ms', 'p99 ms', 'max ms', 'answers', 'CPU us each'], [...shown, [`${BURST} at once`, burst.perSecond, burst.p50Ms, burst.p99Ms, burst.maxMs, showStatuses(burst.statuses), '']]));
  console.log(`ended: ${ended.map(({ status, n }) => `${n} ${status}`).join(', ')}; still open: ${open}`);
  const gate = rows.find(({ offered }) => offered === GATE) as (typeof rows)[number];
  console.log(JSON.stringify({ bench: 'submit', offered: GATE, submitsPerSecond: gate.perSecond, p50Ms: gate.p50Ms, p99Ms: gate.p99Ms, cpuMicrosPerSubmit: gate.cpu['venue'], cpu: gate.cpu, burst, openAfterBurst: open, ended, rows, machine: { cpus: cpus().length, model: cpus()[0]?.model, node: process.version } }));
}

async function drive({ url, key, chain, solver }: Job): Promise<void> {
  await startSolver(url, {
    ...solver,
    lp: account(1_001).address,
    operator: account(2_001),
    chains: [chain],
    corridors: [`${chain.slug}-${chain.slug}`],
    answer: (rfq, make) => ({ ...make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n }, { validSeconds: 500 }), more: false }),
  });
  const [usdc, weth] = chain.tokens as [Chain['tokens'][number], Chain['tokens'][number]];
  const taker = account(1);
  const body = JSON.stringify({ taker: taker.address, input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000' }, output: { asset: assetId({ chainId: chain.id, token: weth.address }) } });
  const caller = await createCaller(url, key);
  let ready: string[] = [];
  let sent = 0;
  await new Promise((done) => setTimeout(done, 500));
  process.on('message', (ask) => void answer(ask as Ask).then((figures) => process.send?.(figures)));
  process.send?.('ready');

  async function answer(ask: Ask): Promise<LoadFigures | 'ready'> {
    if ('prepare' in ask) {
      ready = [];
      while (ready.length < ask.prepare) for (const one of await Promise.all(Array.from({ length: Math.min(20, ask.prepare - ready.length) }, () => prepared(caller)))) ready.push(one);
      return 'ready';
    }
    const call = (n: number) => caller.call('/api/v1/rfq/orders', ready[n] as string, { 'Idempotency-Key': `bench-${sent++}` });
    return 'burst' in ask ? openLoop({ rate: BURST * 1_000, seconds: 0.001, call }) : openLoop({ ...ask, call });
  }

  async function prepared(from: Caller): Promise<string> {
    const { text } = await from.call('/api/v1/rfq/quotes', body);
    const quote = (JSON.parse(text) as Json)['quotes']?.[0] as Json;
    const order = orderFromMessage(zOrderMessage.parse(quote['order']?.['payload']?.['message']));
    const signature = taker.signer.sign(orderDigest({ chainId: chain.id, escrow: chain.escrow }, order)) as Hex;
    return JSON.stringify({ quoteResponse: quote, signature });
  }
}
