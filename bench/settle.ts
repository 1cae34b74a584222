/**
 * Measures time and rate from accepted order to settled, with blocks of one second and a database with fsync:
 * 100 orders a second for 15 seconds, which the gate is about. Then the rate rises until settling falls
 * behind; rows at 50, 80, 150 and 300 % of the capacity follow. With a rate on the command line, only that is
 * measured. anvil shares the cores, so its own rate for transfers that were signed beforehand is measured in
 * the same run, and CPU is listed by program.
 *
 * npm run bench -- settle [orders/s] [seconds] [--rates=150,300] [--lanes=2 (relayer accounts)]
 *   [--single (one transaction per order)] [--profile=FILE]
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
import type { NewOrder } from '../src/ports/stores/store.ts';
import { createOrderAdvancer } from '../src/venue/orders/advance/advancer.ts';
import { account, startDevnet, type TestChain } from '../test/support/devnet.ts';
import { startTestPostgres } from '../test/support/postgres.ts';
import { silentLog, silentMetrics } from '../test/support/silent.ts';
import { makeTrade } from '../test/support/trade.ts';
import { cpuOfVenue, cpuPer, cpuUsed, showCpu } from './cpu.ts';
import { givenRates, type RateFigures, showOffered, showSummary, summaryOf, toTheKnee } from './knee.ts';
import { at, profiled, table } from './load.ts';

const { values: asked, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    lanes: { type: 'string', default: '1' },
    single: { type: 'boolean', default: false },
    // Read by `profiled` and `givenRates`.
    profile: { type: 'string' },
    rates: { type: 'string' },
  },
});
const offeredPerSecond = Number(positionals[0] ?? 100);
const seconds = Number(positionals[1] ?? 15);
/** Seconds of each rate on the way to the knee. */
const KNEE_SECONDS = 5;
const TICKS = 20;
const LONGEST_SETTLING_MS = 120_000;

interface Settled extends RateFigures {
  orders: number;
  /** Over the time until the last was settled. */
  settledPerSecond: number;
  cpu: Record<string, number>;
}

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

/** Wake-ups that the queue did not take in time: news and the sweep do without. */
let unwoken = 0;
const ceiling = await ceilingOfTheChain(2_000);
const gateTrades = tradesOf(offeredPerSecond * seconds);
const gate = await profiled(() => settleAt(offeredPerSecond, seconds, gateTrades));
const { transactions, gasPerOrder } = await gasOf(gate.orders);
const knee =
  positionals.length > 0 && givenRates() === undefined
    ? undefined
    : await toTheKnee(Math.round(offeredPerSecond * 1.25), (rate) => settleAt(rate, KNEE_SECONDS));

await advancer.stop();
await transactor.stop();
await queue.close();
await bus.close();
await devnet.stop();
await postgres.stop();
console.log(
  table(
    ['', 'settled/s', 'p50 ms', 'p99 ms', 'transactions', 'gas each', 'CPU us each'],
    [
      [
        `${offeredPerSecond}/s offered for ${seconds} s`,
        gate.settledPerSecond,
        gate.p50Ms,
        gate.p99Ms,
        transactions,
        gasPerOrder,
        showCpu(gate.cpu),
      ],
      ['gate', '>= 80', '<= 2000', '', '', '', ''],
      ["anvil's own transfers", ceiling, '', '', '', '', ''],
    ],
  ),
);
if (knee) {
  console.log(
    table(
      ['offered, of capacity', 'settled/s', 'p50 ms', 'p99 ms', 'CPU us each'],
      knee.rows.map((row) => [showOffered(row), row.perSecond, row.p50Ms, row.p99Ms, showCpu(row.cpu)]),
    ),
  );
  console.log(showSummary(knee, { refuses: false }));
}
console.log(
  JSON.stringify({
    bench: 'settle',
    ...(knee && summaryOf(knee)),
    lanes: relayers.length,
    offeredPerSecond,
    settledPerSecond: gate.settledPerSecond,
    p50Ms: gate.p50Ms,
    p99Ms: gate.p99Ms,
    p50Blocks: Number((gate.p50Ms / 1_000).toFixed(2)),
    orders: gate.orders,
    transactions,
    unwoken,
    gasPerOrder,
    cpuMicrosPerOrder: gate.cpu,
    bareTransactionsPerSecond: ceiling,
    ...(knee && { rows: knee.rows }),
    machine: { cores: cpus().length, model: cpus()[0]?.model ?? '', node: process.version },
  }),
);

function tradesOf(count: number): NewOrder[] {
  return Array.from({ length: Math.round(count) }, () =>
    makeTrade({
      origin: c,
      taker,
      lps: [{ account: lp }],
      inputAmount: 1_000_000n,
      outputAmount: 10n ** 15n,
      validForSeconds: 600,
    }),
  );
}

/** Accepts so many orders a second for so long, and waits until all are settled. */
async function settleAt(
  rate: number,
  forSeconds: number,
  trades = tradesOf(rate * forSeconds),
): Promise<Settled> {
  const total = trades.length;
  const before = cpuUsed();
  const sinceMs = Date.now();
  const startedMs = performance.now();
  let next = 0;
  for (let tick = 1; tick <= forSeconds * TICKS; tick += 1) {
    for (const trade of trades.slice(next, Math.round((tick * rate) / TICKS))) {
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
      "select count(*)::int as n from trade_order where status = 'settled' and created_at_ms >= $1",
      [sinceMs],
    );
    settled = row?.n ?? 0;
    if (performance.now() - startedMs > forSeconds * 1_000 + LONGEST_SETTLING_MS)
      throw new Error(`only ${settled} of ${total} settled`);
    await new Promise((done) => setTimeout(done, 200));
  }
  const tookSeconds = (performance.now() - startedMs) / 1_000;
  const after = cpuUsed();
  const times = (
    await db.query<{ ms: number; at: number }>(
      `select max(f.recorded_at_ms) - min(f.recorded_at_ms) as ms, min(o.created_at_ms) as at
         from order_fact f join trade_order o using (order_id) where o.created_at_ms >= $1
         group by order_id order by ms`,
      [sinceMs],
    )
  ).map((row) => ({ ms: Number(row.ms), second: Math.floor((Number(row.at) - sinceMs) / 1_000) }));
  const sorted = times.map(({ ms }) => ms);
  return {
    offered: rate,
    orders: total,
    settledPerSecond: tenth(total / tookSeconds),
    perSecond: tenth(total / (forSeconds + growthOf(times, forSeconds))),
    p50Ms: at(sorted, 0.5),
    p99Ms: at(sorted, 0.99),
    served: total,
    refused: 0,
    refusalP99Ms: 0,
    cpuMicros: cpuOfVenue(before, after),
    cpu: cpuPer(total, before, after),
  };
}

/**
 * The seconds by which orders of the last second took longer than those of the first. Where n orders come in
 * t seconds and take g seconds longer at the end, n / (t + g) are settled a second. The time to the last
 * settled order would count the two blocks that every order takes.
 */
function growthOf(times: readonly { ms: number; second: number }[], forSeconds: number): number {
  const mean = (second: number) => {
    const those = times.filter((order) => order.second === second);
    return those.reduce((sum, { ms }) => sum + ms, 0) / Math.max(1, those.length);
  };
  return Math.max(0, (mean(Math.floor(forSeconds) - 1) - mean(0)) / 1_000);
}

/** The transactions so far, and their gas for each of so many orders. */
async function gasOf(orders: number): Promise<{ transactions: number; gasPerOrder: number }> {
  const hashes = await txDb.query<{ hash: string }>(
    "select encode(mined_hash, 'hex') as hash from tx_slot where state = 'mined'",
  );
  const receipts = await Promise.all(hashes.map(({ hash }) => c.port.receipt(`0x${hash}`)));
  const gas = receipts.reduce((sum, receipt) => sum + (receipt?.gasUsed ?? 0n), 0n);
  return { transactions: hashes.length, gasPerOrder: Number(gas / BigInt(orders)) };
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}

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
