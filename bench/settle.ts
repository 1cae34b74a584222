/** Accepted orders to settled, one relayer account, one-second blocks, real database with fsync: `npm run bench -- settle [orders/s] [seconds]`. */

import { cpus } from 'node:os';
import { createBullQueue } from '../src/adapters/bullmq/queue.ts';
import { createTransactor } from '../src/adapters/evm/transactor.ts';
import { createPostgresBus } from '../src/adapters/postgres/bus.ts';
import { TRANSACTION_MIGRATIONS } from '../src/adapters/postgres/migrations/transactions.ts';
import { VENUE_MIGRATIONS } from '../src/adapters/postgres/migrations/venue.ts';
import { createTxStore } from '../src/adapters/postgres/tx-store.ts';
import { createVenueStore } from '../src/adapters/postgres/venue-store.ts';
import { systemClock } from '../src/adapters/system/clock.ts';
import { createAdvancer } from '../src/venue/advance/advancer.ts';
import { account, startDevnet, type TestChain } from '../test/support/devnet.ts';
import { startTestPostgres } from '../test/support/postgres.ts';
import { silentLog, silentMetrics } from '../test/support/silent.ts';
import { makeTrade } from '../test/support/trade.ts';

const perSecond = Number(process.argv[2] ?? 100);
const seconds = Number(process.argv[3] ?? 10);
const total = perSecond * seconds;
const TICKS = 20;

const postgres = await startTestPostgres({});
const devnet = await startDevnet([31337], { blockTimeSeconds: 1, landingMarginSeconds: 60, anvilArgs: ['--gas-limit', '120000000'] });
const c = devnet.chains[0] as TestChain;
const [taker, relayer, lp] = [account(2_000), account(2_001), account(2_002)];
await c.fund(relayer.address, 0n);
await c.fund(taker.address, 10_000_000n);
await c.fund(lp.address);
await c.deposit(lp.address, c.weth.address, 10n ** 23n);

const db = await postgres.database('venue', VENUE_MIGRATIONS);
const store = createVenueStore(db);
const shared = { clock: systemClock, log: silentLog, metrics: silentMetrics };
const transactor = createTransactor({ chain: c.port, store: createTxStore(await postgres.database('tx', TRANSACTION_MIGRATIONS)), signer: relayer.signer, ...shared }, { owner: 'bench' });
await transactor.start();
const queue = createBullQueue({ connection: { kind: 'postgres', url: await postgres.server.database('queue'), schema: 'bullmq' }, log: silentLog });
const bus = createPostgresBus(db, silentLog);
const chains = new Map([[c.chain.id, c.port]]);
const advancer = createAdvancer({ store, chains, transactors: new Map([[c.chain.id, transactor]]), routeVenues: [], attestations: { signatures: async () => undefined }, queue, bus, ...shared }, { owner: 'bench' });
await advancer.start();

const trades = Array.from({ length: total }, () => makeTrade({ origin: c, taker, lps: [{ account: lp }], inputAmount: 1_000_000n, outputAmount: 10n ** 15n, validForSeconds: 600 }));
const cpuBefore = process.cpuUsage();
const startedMs = performance.now();
let next = 0;
for (let tick = 1; tick <= seconds * TICKS; tick += 1) {
  for (const trade of trades.slice(next, Math.round((tick * perSecond) / TICKS))) {
    next += 1;
    const order = { ...trade, createdAtMs: Date.now() };
    void store.accept(order, '{}', null).then(() => queue.wake('orders', order.orderId));
  }
  const waitMs = startedMs + (tick * 1_000) / TICKS - performance.now();
  if (waitMs > 0) await new Promise((done) => setTimeout(done, waitMs));
}
for (let settled = 0; settled < total; ) {
  const [row] = await db.query<{ n: number }>("select count(*)::int as n from trade_order where status = 'settled'");
  settled = row?.n ?? 0;
  if (performance.now() - startedMs > seconds * 1_000 + 120_000) throw new Error(`only ${settled} of ${total} settled`);
  await new Promise((done) => setTimeout(done, 200));
}
const tookSeconds = (performance.now() - startedMs) / 1_000;
const cpu = process.cpuUsage(cpuBefore);
const rows = await db.query<{ ms: number }>("select max(f.recorded_at_ms) - min(f.recorded_at_ms) as ms from order_fact f group by f.order_id order by ms");
const at = (share: number) => Number(rows[Math.min(rows.length - 1, Math.floor(rows.length * share))]?.ms);
const transactions = await c.port.transactionCount(relayer.address, 'latest');

await advancer.stop();
await transactor.stop();
await queue.close();
await bus.close();
await devnet.stop();
await postgres.stop();
console.log(
  JSON.stringify({
    bench: 'settle',
    offeredPerSecond: perSecond,
    settledPerSecond: Number((total / tookSeconds).toFixed(1)),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    orders: total,
    transactions,
    cpuMsPerOrder: Number(((cpu.user + cpu.system) / 1_000 / total).toFixed(2)),
    machine: { cores: cpus().length, model: cpus()[0]?.model ?? '', node: process.version },
  }),
);
