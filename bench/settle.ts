/**
 * Measures time and rate from accepted order to settled, with blocks of one second and a database with fsync.
 * anvil shares the cores, so its own rate for transfers that were signed beforehand is measured in the same
 * run, and CPU is listed by program.
 *
 * npm run bench -- settle [orders/s] [seconds] [--lanes 2 (relayer accounts)] [--single (one transaction per
 * order)] [--profile=FILE]
 */

import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { createBullQueue } from '../src/adapters/bullmq/queue.ts';
import { createLanes } from '../src/adapters/evm/transactor/lanes.ts';
import { signTransaction } from '../src/adapters/evm/transactor/sign.ts';
import { createTransactor } from '../src/adapters/evm/transactor/transactor.ts';
import { TRANSACTION_MIGRATIONS } from '../src/adapters/postgres/migrations/transactions.ts';
import { VENUE_MIGRATIONS } from '../src/adapters/postgres/migrations/venue.ts';
import { createPostgresBus } from '../src/adapters/postgres/bus.ts';
import { createTxStore } from '../src/adapters/postgres/tx-store.ts';
import { createVenueStore } from '../src/adapters/postgres/venue/venue-store.ts';
import { systemClock } from '../src/adapters/system/clock.ts';
import type { Hex } from '../src/domain/hex.ts';
import { createOrderAdvancer } from '../src/venue/orders/advance/advancer.ts';
import { account, startDevnet, type TestChain } from '../test/support/devnet.ts';
import { startTestPostgres } from '../test/support/postgres.ts';
import { silentLog, silentMetrics } from '../test/support/silent.ts';
import { makeTrade } from '../test/support/trade.ts';
import { cpuPer, cpuUsed, showCpu } from './cpu.ts';
import { profiled, table } from './load.ts';

const { values: asked, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    lanes: { type: 'string', default: '1' },
    single: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});
const perSecond = Number(positionals[0] ?? 100);
const seconds = Number(positionals[1] ?? 15);
const total = perSecond * seconds;
const TICKS = 20;

const postgres = await startTestPostgres({});
const devnet = await startDevnet([31337], {
  blockTimeSeconds: 1,
  landingMarginSeconds: 60,
  anvilArgs: ['--gas-limit', '120000000'],
});
const c = devnet.chains[0] as TestChain;
const [taker, lp, stranger] = [account(2_000), account(2_002), account(2_003)];
const relayers = Array.from({ length: Number(asked.lanes) }, (_, n) => account(2_010 + n));
for (const { address } of [...relayers, stranger]) await c.fund(address, 0n);
await c.fund(taker.address, 10_000_000n);
await c.fund(lp.address);
await c.deposit(lp.address, c.weth.address, 10n ** 23n);

const db = await postgres.database('venue', VENUE_MIGRATIONS);
const store = createVenueStore(db);
const shared = { clock: systemClock, log: silentLog, metrics: silentMetrics };
const txDb = await postgres.database('tx', TRANSACTION_MIGRATIONS);
const txStore = createTxStore(txDb);
const lanes = relayers.map(({ signer }, n) =>
  createTransactor(
    { chain: c.port, store: txStore, signer, ...shared },
    {
      owner: 'bench',
      lane: String(n),
      lanes: relayers.map(({ address }) => address),
      batch: asked.single ? null : c.deployment.batch,
    },
  ),
);
const transactor = createLanes(lanes as [(typeof lanes)[0]]);
await transactor.start();
const queue = createBullQueue({
  connection: { kind: 'postgres', url: await postgres.server.database('queue'), schema: 'bullmq' },
  log: silentLog,
});
const bus = createPostgresBus(db, silentLog);
const chains = new Map([[c.chain.id, c.port]]);
const advancer = createOrderAdvancer(
  {
    store,
    chains,
    transactors: new Map([[c.chain.id, transactor]]),
    routeVenues: [],
    attestations: { signatures: async () => undefined },
    queue,
    bus,
    ...shared,
  },
  { owner: 'bench' },
);
await advancer.start();

const trades = Array.from({ length: total }, () =>
  makeTrade({
    origin: c,
    taker,
    lps: [{ account: lp }],
    inputAmount: 1_000_000n,
    outputAmount: 10n ** 15n,
    validForSeconds: 600,
  }),
);
const ceiling = await ceilingOfTheChain(2_000);
const cpuBefore = cpuUsed();
const startedMs = performance.now();
let next = 0;
/** Wake-ups that the queue did not take in time: news and the sweep do without. */
let unwoken = 0;
await profiled(settleAll);
const tookSeconds = (performance.now() - startedMs) / 1_000;
const cpu = cpuPer(total, cpuBefore, cpuUsed());
const rows = await db.query<{ ms: number }>(
  'select max(f.recorded_at_ms) - min(f.recorded_at_ms) as ms from order_fact f group by f.order_id order by ms',
);
const at = (share: number) => Number(rows[Math.min(rows.length - 1, Math.floor(rows.length * share))]?.ms);
const hashes = await txDb.query<{ hash: string }>(
  "select encode(mined_hash, 'hex') as hash from tx_slot where state = 'mined'",
);
const receipts = await Promise.all(hashes.map(({ hash }) => c.port.receipt(`0x${hash}`)));
const gas = receipts.reduce((sum, receipt) => sum + (receipt?.gasUsed ?? 0n), 0n);

await advancer.stop();
await transactor.stop();
await queue.close();
await bus.close();
await devnet.stop();
await postgres.stop();
const settledPerSecond = Number((total / tookSeconds).toFixed(1));
console.log(
  table(
    ['', 'settled/s', 'p50 ms', 'p99 ms', 'transactions', 'gas each', 'CPU us each'],
    [
      [
        `${perSecond}/s offered for ${seconds} s`,
        settledPerSecond,
        at(0.5),
        at(0.99),
        hashes.length,
        Number(gas / BigInt(total)),
        showCpu(cpu),
      ],
      ['gate', '>= 80', '<= 2000', '', '', '', ''],
      ["anvil's own transfers", ceiling, '', '', '', '', ''],
    ],
  ),
);
console.log(
  JSON.stringify({
    bench: 'settle',
    lanes: relayers.length,
    offeredPerSecond: perSecond,
    settledPerSecond,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p50Blocks: Number((at(0.5) / 1_000).toFixed(2)),
    orders: total,
    transactions: hashes.length,
    unwoken,
    gasPerOrder: Number(gas / BigInt(total)),
    cpuMicrosPerOrder: cpu,
    bareTransactionsPerSecond: ceiling,
    machine: { cores: cpus().length, model: cpus()[0]?.model ?? '', node: process.version },
  }),
);

/** Empty transfers that anvil takes and mines per second without other load. */
async function ceilingOfTheChain(count: number): Promise<number> {
  const to = stranger.address;
  const signed: Hex[] = [];
  for (let nonce = 0; nonce < count; nonce += 1)
    signed.push(
      (
        await signTransaction(stranger.signer, {
          chainId: c.chain.id,
          nonce,
          to,
          data: '0x',
          gas: 21_000n,
          maxFeePerGas: 10n ** 11n,
          maxPriorityFeePerGas: 1n,
        })
      ).raw,
    );
  const sinceMs = performance.now();
  for (let from = 0; from < count; from += 100)
    await Promise.all(signed.slice(from, from + 100).map((raw) => c.port.sendRaw(raw)));
  while ((await c.port.transactionCount(to, 'latest')) < count)
    await new Promise((done) => setTimeout(done, 50));
  return Math.round((count / (performance.now() - sinceMs)) * 1_000);
}

/** Offers the orders at their rate and waits until each has settled. */
async function settleAll(): Promise<void> {
  for (let tick = 1; tick <= seconds * TICKS; tick += 1) {
    for (const trade of trades.slice(next, Math.round((tick * perSecond) / TICKS))) {
      next += 1;
      const order = { ...trade, createdAtMs: Date.now() };
      void store
        .accept(order, '{}', null)
        .then(() => queue.wake('orders', order.orderId).catch(() => (unwoken += 1)));
    }
    const waitMs = startedMs + (tick * 1_000) / TICKS - performance.now();
    if (waitMs > 0) await new Promise((done) => setTimeout(done, waitMs));
  }
  for (let settled = 0; settled < total;) {
    const [row] = await db.query<{ n: number }>(
      "select count(*)::int as n from trade_order where status = 'settled'",
    );
    settled = row?.n ?? 0;
    if (performance.now() - startedMs > seconds * 1_000 + 120_000)
      throw new Error(`only ${settled} of ${total} settled`);
    await new Promise((done) => setTimeout(done, 200));
  }
}
