/**
 * Measures what replicas cost: the venue as one api process and one worker, then as two of each, on the same
 * database and chain, with the same load for each replica. On two cores, two replicas take them from each
 * other and from the load, so the figure to read is the CPU per unit: where it does not grow, another machine
 * adds what its cores can do. A process that is asked more often takes less for each answer, so one replica
 * is not compared with two that share its load.
 *
 * npm run bench -- replicas [--seconds=5] [--rounds=1]
 */

import { cpus } from 'node:os';
import { cpuPer, type CpuUsed, cpuUsed, showCpu } from './cpu.ts';
import { at, type LoadFigures, option, rounded, showStatuses, table } from './load.ts';
import { startOrderLoad } from './order-load.ts';
import { startQuoteLoad } from './quote-load.ts';
import { type Site, startSite, type VenueProcess } from './site.ts';

const SECONDS = option('seconds', 5);
/** One replica and two take turns. */
const ROUNDS = option('rounds', 1);
const WARM_UP_RATE = 400;
const IDLE_SECONDS = 3;
/** The CPU per unit of two replicas, relative to one. */
const MOST_GROWTH = 1.1;
/** A second, for each replica. The higher rate first, which also compiles for the lower one. */
const QUOTES = [400, 100] as const;
const ORDERS = 40;
const LPS = 3;
const LONGEST_SETTLING_MS = 60_000;

const IDLE = 'nothing, each second';

interface Row {
  replicas: number;
  what: string;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  answers: string;
  cpu: Record<string, number>;
}

const site = await startSite({ batch: true });
const rows: Row[] = [];
try {
  for (let round = 0; round < ROUNDS; round += 1)
    for (const replicas of [1, 2]) rows.push(...(await measure(site, replicas)));
} finally {
  await site.stop();
}
console.log(
  table(
    ['replicas', 'offered', 'done/s', 'p50 ms', 'p99 ms', 'answers', 'CPU us each'],
    rows.map((row) => [
      row.replicas,
      row.what,
      row.perSecond,
      row.p50Ms,
      row.p99Ms,
      row.answers,
      showCpu(row.cpu),
    ]),
  ),
);
const growth = growthByUnit();
for (const { what, one, two, times } of growth)
  console.log(
    `${what}: beyond idling, CPU of the venue's processes ${one} us each with one replica, ${two} us with two: ${times} times (<= ${MOST_GROWTH}: ${times <= MOST_GROWTH ? 'met' : 'MISSED'})`,
  );
console.log(
  JSON.stringify({
    bench: 'replicas',
    growth,
    rows,
    machine: { cpus: cpus().length, model: cpus()[0]?.model, node: process.version },
  }),
);
process.exit(0);

async function measure(
  { db, process: made, quoteTarget, orderTarget }: Site,
  replicas: number,
): Promise<Row[]> {
  const roles = Array.from({ length: replicas }, () => ['api', 'worker'] as const).flat();
  const processes: VenueProcess[] = await Promise.all(roles.map((role) => made(role)));
  await Promise.all(processes.map(({ part }) => part.start({}, 'ready')));
  const names = new Map(processes.map(({ part, role }) => [part.pid(), role]));
  const urls = processes.flatMap(({ role, url }) => (role === 'api' ? [url] : []));
  const found: Row[] = [];
  const note = (
    what: string,
    figures: Pick<LoadFigures, 'perSecond' | 'p50Ms' | 'p99Ms'> & { statuses?: LoadFigures['statuses'] },
    units: number,
    before: CpuUsed,
  ) =>
    found.push({
      replicas,
      what,
      perSecond: figures.perSecond,
      p50Ms: figures.p50Ms,
      p99Ms: figures.p99Ms,
      answers: figures.statuses ? showStatuses(figures.statuses) : '',
      cpu: withoutUs(cpuPer(units, before, cpuUsed(names))),
    });

  const quotes = await startQuoteLoad(quoteTarget(urls), LPS);
  // As much for each replica, so that two new processes do not compile twice what one does.
  await quotes.run(WARM_UP_RATE * replicas, 2 * SECONDS);
  const rested = cpuUsed(names);
  await new Promise((done) => setTimeout(done, IDLE_SECONDS * 1_000));
  note(IDLE, { perSecond: 0, p50Ms: 0, p99Ms: 0 }, IDLE_SECONDS, rested);
  for (const rate of QUOTES) {
    const before = cpuUsed(names);
    const figures = await quotes.run(rate * replicas, SECONDS);
    note(`${rate} quotes/s for each`, figures, figures.served, before);
  }
  quotes.stop();

  const orders = await startOrderLoad(await orderTarget(urls));
  await orders.prepare(ORDERS * replicas * SECONDS);
  await orders.run(ORDERS * replicas, SECONDS);
  await allSettled(db);
  await orders.prepare(ORDERS * replicas * SECONDS);
  const [{ at: sinceMs } = { at: 0 }] = await db.query<{ at: number }>(
    'select coalesce(max(created_at_ms), 0) as at from trade_order',
  );
  const before = cpuUsed(names);
  const startedMs = performance.now();
  const figures = await orders.run(ORDERS * replicas, SECONDS);
  note(`${ORDERS} submissions/s for each`, figures, figures.served, before);
  await allSettled(db);
  const tookSeconds = (performance.now() - startedMs) / 1_000;
  const times = (
    await db.query<{ ms: number }>(
      'select max(f.recorded_at_ms) - min(f.recorded_at_ms) as ms from order_fact f join trade_order o using (order_id) where o.created_at_ms > $1 group by order_id order by 1',
      [sinceMs],
    )
  ).map(({ ms }) => Number(ms));
  // With what accepting them took: the two overlap.
  note(
    '… to settled',
    {
      perSecond: Math.round((figures.served / tookSeconds) * 10) / 10,
      p50Ms: at(times, 0.5),
      p99Ms: at(times, 0.99),
    },
    figures.served,
    before,
  );
  orders.stop();
  await Promise.all(processes.map(({ part }) => part.stop()));
  return found;
}

/** Waits until every order is settled. */
async function allSettled(db: Site['db']): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    const [{ n } = { n: 0 }] = await db.query<{ n: number }>(
      "select count(*)::int as n from trade_order where status <> 'settled'",
    );
    if (n === 0) return;
    if (performance.now() - startedMs > LONGEST_SETTLING_MS) throw new Error(`${n} orders are not settled`);
    await new Promise((done) => setTimeout(done, 200));
  }
}

/**
 * Compares the CPU per unit of api and worker processes, without what they take when nobody asks anything;
 * the mean of all rounds.
 */
function growthByUnit(): { what: string; one: number; two: number; times: number }[] {
  const mean = (replicas: number, wanted: string, value: (row: Row) => number) => {
    const those = rows.filter(({ what, replicas: n }) => what === wanted && n === replicas);
    return those.reduce((sum, row) => sum + value(row), 0) / those.length;
  };
  const used = ({ cpu }: Row) => (cpu['api'] ?? 0) + (cpu['worker'] ?? 0);
  const each = (replicas: number, what: string) => {
    const idlePerSecond = mean(replicas, IDLE, used);
    return Math.round(mean(replicas, what, (row) => used(row) - idlePerSecond / row.perSecond));
  };
  return [...new Set(rows.map(({ what }) => what))]
    .filter((what) => what !== IDLE)
    .map((what) => {
      const [one, two] = [each(1, what), each(2, what)];
      return { what, one, two, times: rounded(two / one) };
    });
}

/** Leaves out this process, which only measures. */
function withoutUs(cpu: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(cpu).filter(([name]) => name !== 'venue'));
}
