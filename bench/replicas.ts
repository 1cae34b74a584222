/**
 * Measures what replicas cost: the venue as one api process and one worker, then as two of each, on the same
 * database and chain with the same load. Two cores cannot answer twice as much with two replicas; the figure
 * to read is the CPU per unit, of which the part that grows with replicas is what they send each other.
 *
 * npm run bench -- replicas [--seconds=5]
 */

import { cpus } from 'node:os';
import { cpuPer, type CpuUsed, cpuUsed, showCpu } from './cpu.ts';
import { at, type LoadFigures, showStatuses, table } from './load.ts';
import { startOrderLoad } from './order-load.ts';
import { startQuoteLoad } from './quote-load.ts';
import { type Site, startSite, type VenueProcess } from './site.ts';

const SECONDS = Number(process.argv.find((word) => word.startsWith('--seconds='))?.slice(10) ?? 5);
const QUOTES = [100, 400] as const;
const ORDERS = 80;
const LPS = 3;
const LONGEST_SETTLING_MS = 60_000;

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
console.log(
  JSON.stringify({
    bench: 'replicas',
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
  for (const rate of QUOTES) {
    const before = cpuUsed(names);
    const figures = await quotes.run(rate, SECONDS);
    note(`${rate} quotes/s`, figures, figures.statuses[200] ?? 0, before);
  }
  quotes.stop();

  const orders = await startOrderLoad(await orderTarget(urls));
  await orders.prepare(ORDERS * SECONDS);
  const [{ at: sinceMs } = { at: 0 }] = await db.query<{ at: number }>(
    'select coalesce(max(created_at_ms), 0) as at from trade_order',
  );
  const before = cpuUsed(names);
  const startedMs = performance.now();
  const figures = await orders.run(ORDERS, SECONDS);
  note(`${ORDERS} submissions/s`, figures, figures.statuses[200] ?? 0, before);
  const accepted = figures.statuses[200] ?? 0;
  let settled = 0;
  while (settled < accepted && performance.now() - startedMs < LONGEST_SETTLING_MS) {
    const [row] = await db.query<{ n: number }>(
      "select count(*)::int as n from trade_order where status = 'settled' and created_at_ms > $1",
      [sinceMs],
    );
    settled = row?.n ?? 0;
    await new Promise((done) => setTimeout(done, 200));
  }
  const tookSeconds = (performance.now() - startedMs) / 1_000;
  if (settled < accepted) throw new Error(`only ${settled} of ${accepted} orders settled`);
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
      perSecond: Math.round((settled / tookSeconds) * 10) / 10,
      p50Ms: at(times, 0.5),
      p99Ms: at(times, 0.99),
    },
    settled,
    before,
  );
  orders.stop();
  await Promise.all(processes.map(({ part }) => part.stop()));
  return found;
}

/** Leaves out this process, which only measures. */
function withoutUs(cpu: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(cpu).filter(([name]) => name !== 'venue'));
}
