/**
 * Measures how many submissions one venue process makes durable: each with its seal, the taker's signature,
 * chain state and one commit, on a real chain and PostgreSQL with fsync. 500 come together and are followed
 * until each has ended. Then the rate rises until answers fall behind; rows at 50, 80, 150 and 300 % of the
 * capacity follow, and the database has to have all that were accepted. Takers and the solver run in a
 * process of their own. `--history=N` measures twice, on an empty database and on one with N trades: a
 * copy of the folder of `bench -- history`, which is filled first (minutes).
 *
 * npm run bench -- submit [--seconds=5] [--rates=200,600] [--history=1000000] [--dir=data/bench-history]
 *   [--profile=FILE (of the last of the rates, else of 200/s)]
 */

import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { startEmbeddedPostgres } from '../src/adapters/postgres/embedded/embedded.ts';
import { createTransactor } from '../src/adapters/evm/transactor/transactor.ts';
import { createTxStore } from '../src/adapters/postgres/tx-store.ts';
import { systemClock } from '../src/adapters/system/clock.ts';
import { createOrderAdvancer } from '../src/venue/orders/advance/advancer.ts';
import type { Signer } from '../src/ports/signer.ts';
import { account } from '../test/support/devnet.ts';
import { onServer, startTestPostgres, type TestPostgres } from '../test/support/postgres.ts';
import { silentLog, silentMetrics } from '../test/support/silent.ts';
import { startTestVenue, type TestVenue } from '../test/support/venue.ts';
import { cpuOfVenue, cpuPer, cpuUsed, showCpu } from './cpu.ts';
import { type Knee, type RateFigures, showOffered, showSummary, summaryOf, toTheKnee } from './knee.ts';
import { type LoadFigures, profiled, showStatuses, table } from './load.ts';
import { startOrderLoad, TAKER } from './order-load.ts';
import { openSeeded } from './seeded.ts';

const GATE = 200;
const BURST = 500;
const given = (name: string) =>
  process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const SECONDS = Number(given('seconds') ?? 5);
const HISTORY = Number(given('history') ?? 0);
const DIR = resolve(given('dir') ?? 'data/bench-history');
/** The schema of the copy, in the same server. */
const COPY = 'bench_submit';
const OURS = 'from trade_order where origin_chain_id = $1';

interface Measured {
  history: number;
  knee: Knee<LoadFigures & RateFigures & { cpu: Record<string, number> }>;
  burst: LoadFigures;
  ended: { status: string; n: number }[];
  open: number;
  /** Accepted, and not in the database. */
  lost: number;
}

const all = [await measure(await startTestPostgres({}), 0, HISTORY > 0 ? 'gate' : 'knee')];
if (HISTORY > 0) all.push(await measure(await withHistory(), HISTORY, 'gate'));

const shown = all.flatMap(({ history, knee, burst }) => [
  ...knee.rows.map((row) => [
    history,
    showOffered(row),
    row.perSecond,
    row.p50Ms,
    row.p99Ms,
    row.maxMs,
    showStatuses(row.statuses),
    row.refusalP99Ms,
    showCpu(row.cpu),
  ]),
  [
    history,
    `${BURST} at once`,
    burst.perSecond,
    burst.p50Ms,
    burst.p99Ms,
    burst.maxMs,
    showStatuses(burst.statuses),
    burst.refusalP99Ms,
    '',
  ],
]);
console.log(
  table(
    [
      'trades before',
      'offered, of capacity',
      'accepted/s',
      'p50 ms',
      'p99 ms',
      'max ms',
      'answers',
      'refusal p99 ms',
      'CPU us each',
    ],
    [...shown, ['gate', `${GATE}/s`, `>= ${GATE}`, '', '< 100', '', '', '', '']],
  ),
);
for (const { history, knee, ended, open, lost } of all) {
  console.log(showSummary(knee, { refuses: true }));
  console.log(
    `with ${history} trades before: ${ended.map(({ status, n }) => `${n} ${status}`).join(', ')}; still open: ${open} (gate: 0); accepted, but not stored, of all: ${lost} (gate: 0)`,
  );
}
console.log(
  JSON.stringify({
    bench: 'submit',
    all: all.map(({ knee, ...rest }) => ({ ...rest, ...summaryOf(knee), rows: knee.rows })),
    machine: { cpus: cpus().length, model: cpus()[0]?.model, node: process.version },
  }),
);
process.exit(0);

/** A copy of the seeded database, on a server that waits for its disk. */
async function withHistory(): Promise<TestPostgres> {
  await (await openSeeded(DIR, HISTORY)).stop();
  const server = await startEmbeddedPostgres({ dataDir: DIR, log: silentLog });
  const postgres = onServer(server, async () => {}, COPY);
  const admin = await postgres.database('public', [], 'postgres');
  await admin.query(`drop database if exists ${COPY}`);
  await admin.query(`create database ${COPY} template venue strategy file_copy`);
  return postgres;
}

/** Measures up to the knee, or only at the gate's rate. */
async function measure(postgres: TestPostgres, history: number, upTo: 'knee' | 'gate'): Promise<Measured> {
  const v = await startTestVenue({
    postgres,
    rates: {
      quotesPerSecond: 1e6,
      submitsPerSecond: 1e6,
      perIpPerSecond: 1e6,
      openQuotes: 1e9,
      openNotionalUsd: 1e15,
      leastSubmittedShare: 0,
    },
  });
  const { chain, usdc } = v.chain;
  const [taker, relayer] = [account(TAKER), account(9_001)];
  await v.chain.fund(taker.address, 1_000_000_000n);
  await v.chain.fund(relayer.address, 0n);
  await v.chain.deposit(taker.address, usdc.address, 1_000_000_000n * 10n ** 6n);
  const known = await v.solver(1, () => undefined, { inventory: 1_000_000_000n });
  await known.stop();
  const load = await startOrderLoad({
    urls: v.urls,
    key: await v.key('service'),
    chain,
    solver: { id: known.id, apiKey: known.apiKey },
  });

  const storedOrders = async () => {
    const [row] = await v.db.query<{ n: number }>(`select count(*)::int as n ${OURS}`, [chain.id]);
    return row?.n ?? 0;
  };
  const storedBefore = await storedOrders();
  let accepted = 0;
  const atRate = async (rate: number, profile = rate === GATE || given('rates') !== undefined) => {
    await load.prepare(rate * SECONDS);
    const before = cpuUsed();
    const run = () => load.run(rate, SECONDS);
    const figures = await (profile ? profiled(run) : run());
    const after = cpuUsed();
    accepted += figures.served;
    return { ...figures, cpuMicros: cpuOfVenue(before, after), cpu: cpuPer(figures.served, before, after) };
  };
  // Sustained load is served by compiled code: without this, the first rows measure the compiler.
  await atRate(GATE, false);
  await load.prepare(BURST);
  const burst = await load.run(BURST * 1_000, 0.001);
  accepted += burst.served;
  const { ended, open } = await followAll(v, relayer.signer);

  const only = upTo === 'gate' ? await atRate(GATE) : undefined;
  const knee =
    only === undefined
      ? await toTheKnee(GATE, (rate) => atRate(rate))
      : { capacity: only.perSecond, rows: [{ ...only, percent: null }] };
  load.stop();
  const lost = accepted - ((await storedOrders()) - storedBefore);
  await v.stop();
  return { history, knee, burst, ended, open, lost };
}

/** Advances the orders so far until each has ended. */
async function followAll(v: TestVenue, signer: Signer): Promise<Pick<Measured, 'ended' | 'open'>> {
  const { chain } = v.chain;
  const shared = { clock: systemClock, log: silentLog, metrics: silentMetrics };
  const transactor = createTransactor(
    { chain: v.chain.port, store: createTxStore(v.db), signer, ...shared },
    { owner: 'bench' },
  );
  await transactor.start();
  const queue = { wake: async () => {}, process: async () => {}, close: async () => {} };
  const advancer = createOrderAdvancer(
    {
      store: v.store,
      bus: v.bus,
      chains: new Map([[chain.id, v.chain.port]]),
      transactors: new Map([[chain.id, transactor]]),
      routeVenues: [],
      attestations: { signatures: async () => undefined },
      queue,
      ...shared,
    },
    { owner: 'bench' },
  );
  const startedMs = performance.now();
  await advancer.start();
  let open = Number.POSITIVE_INFINITY;
  while (open > 0 && performance.now() - startedMs < 240_000) {
    const [row] = await v.db.query<{ n: number }>(`select count(*)::int as n ${OURS} and not final`, [
      chain.id,
    ]);
    open = row?.n ?? 0;
    await v.chain.anvil.mine(1);
    await new Promise((done) => setTimeout(done, 250));
  }
  const ended = await v.db.query<{ status: string; n: number }>(
    `select status, count(*)::int as n ${OURS} and final group by status`,
    [chain.id],
  );
  await advancer.stop();
  await transactor.stop();
  return { ended, open };
}
