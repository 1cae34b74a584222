/**
 * Measures how fast the trade history answers with a million trades: every filter, every sort, deep pages and
 * several filters together, over HTTP with a real key, and the export of all trades. Next to it, in the same
 * run, an indexed SELECT of one page on the same pool, and an HTTP answer of the same server without a
 * database.
 *
 * npm run bench -- history [--rows=1000000] [--runs=200] [--dir=data/bench-history]
 *
 * The database stays in its folder: the first run fills it, which takes minutes. `p50Ms` and `p99Ms` are wall
 * time at the client, in the same process as the server; measure on a quiet machine. `cpuMs` is CPU per
 * request of client, server and PostgreSQL together, which other programs on the machine change less.
 */

import { spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { cpus } from 'node:os';
import { startHttp } from '../src/adapters/http/server.ts';
import { createPostgresBus } from '../src/adapters/postgres/bus.ts';
import { systemClock } from '../src/adapters/system/clock.ts';
import { systemRandom } from '../src/adapters/system/random.ts';
import type { Route } from '../src/ports/http.ts';
import { createSlotLimiter } from '../src/venue/access/slot-limiter.ts';
import { createAccessGate } from '../src/venue/access/gate.ts';
import { createKeyring, mintKey } from '../src/venue/access/keys.ts';
import { createTickets } from '../src/venue/access/tickets.ts';
import { ADMISSION, RATES, SOCKETS } from '../src/venue/options.ts';
import { tradesExportRoute } from '../src/venue/routes/trades-export.ts';
import { tradesRoute } from '../src/venue/routes/trades.ts';
import { createScreening } from '../src/venue/access/screening.ts';
import { createTradeHistory } from '../src/venue/trades/history.ts';
import { silentLog, silentMetrics } from '../test/support/silent.ts';
import { cpuPer, cpuUsed } from './cpu.ts';
import { openSeeded, SEEDED_CHAINS, SEEDED_DAYS } from './seeded.ts';

const ROWS = option('rows', 1_000_000);
const RUNS = option('runs', 200);
const DIR = process.argv.find((word) => word.startsWith('--dir='))?.slice(6) ?? 'data/bench-history';
const WARM_UP = 5;
/** Rounds of all queries before the first is measured, or the first would pay for compiling the code. */
const WARM_UP_ROUNDS = 5;
const LONGEST_TOTAL = 10_000;

const { db, store, stop } = await openSeeded(DIR, ROWS);
const chains = SEEDED_CHAINS;
const [span] = await db.query<{ first: number; last: number; n: number }>(
  'select min(created_at_ms) as first, max(created_at_ms) as last, count(*) as n from trade',
);
if (!span) throw new Error('no trades');

const keyring = createKeyring({
  store,
  bus: createPostgresBus(db, silentLog),
  clock: systemClock,
  log: silentLog,
});
const slots = createSlotLimiter(
  { clock: systemClock, metrics: silentMetrics, databaseWaitMs: () => db.waitMs() },
  ADMISSION,
);
const gate = createAccessGate(
  {
    keyring,
    tickets: createTickets({ store, random: systemRandom }, SOCKETS),
    slots,
    clock: systemClock,
    metrics: silentMetrics,
    keyUses: { record() {} },
    peers: { publishSoon() {} },
  },
  { ...RATES, readsPerSecond: 1e9, perIpPerSecond: 1e9 },
);
const history = createTradeHistory({
  store,
  chains: new Map(chains.map((one) => [one.id, one])),
  venues: new Map(),
  screening: createScreening({ screeners: [], metrics: silentMetrics }),
  clock: systemClock,
});
const nothing: Route = {
  ...tradesRoute({ history }),
  path: '/api/v1/workspaces/:id/nothing',
  handle: () => ({ items: [], total: 0, offset: 0, limit: 0 }),
} as unknown as Route;
const http = await startHttp(
  {
    routes: [tradesRoute({ history }), tradesExportRoute({ history }), nothing] as unknown as Route[],
    socketRoutes: [],
    gate,
    clock: systemClock,
    log: silentLog,
  },
  { port: 0 },
);
const { text: key, record } = mintKey(
  { random: systemRandom, clock: systemClock },
  {
    kind: 'workspace',
    mode: 'test',
    workspaceId: 'w1',
    role: 'admin',
    memberId: null,
    solverId: null,
    label: 'bench',
  },
);
await store.addKey(record);

const iso = (share: number) =>
  encodeURIComponent(new Date(span.first + (span.last - span.first) * share).toISOString());
const last = span.n - 100;
const SORTS = [
  'created_at',
  'order_id',
  'member',
  'corridor',
  'amount_usd',
  'lp_name',
  'routing_path',
  'settlement_status',
  'settlement_speed_ms',
];
const queries: Record<string, string> = {
  plain: '',
  'limit 100': 'limit=100',
  ...Object.fromEntries(
    ['pending', 'settled', 'failed', 'refunded'].map((status) => [`status ${status}`, `status=${status}`]),
  ),
  corridor: 'corridor=one-two',
  'created after': `createdAfter=${iso(0.5)}`,
  'created before': `createdBefore=${iso(0.5)}`,
  'created within': `createdAfter=${iso(0.31)}&createdBefore=${iso(0.62)}`,
  'created within an hour': `createdAfter=${iso(0.5)}&createdBefore=${iso(0.5 + 1 / (SEEDED_DAYS * 24))}`,
  member: 'member=person%203',
  'member, none': 'member=nobody',
  lp: 'lp=maker%202',
  routing: 'routingPath=direct',
  'notional from': 'minAmountUsd=1000',
  'notional up to': 'maxAmountUsd=100',
  'notional within': 'minAmountUsd=500&maxAmountUsd=501',
  'status, corridor, lp': 'status=settled&corridor=two-three&lp=seed-lp-3',
  'lp, dates, notional': `lp=seed-lp-2&createdAfter=${iso(0.2)}&createdBefore=${iso(0.7)}&minAmountUsd=1000&maxAmountUsd=2000`,
  'dates and notional, few': `createdAfter=${iso(0.5)}&createdBefore=${iso(0.51)}&minAmountUsd=1000&maxAmountUsd=1010`,
  'everything at once': `status=refunded&corridor=one-two&lp=maker&member=person&routingPath=direct&createdAfter=${iso(0.1)}&createdBefore=${iso(0.9)}&minAmountUsd=50&maxAmountUsd=5000&sort=amount_usd`,
  ...Object.fromEntries(
    SORTS.flatMap((sort) =>
      ['asc', 'desc'].map((direction) => [
        `sort ${sort} ${direction}`,
        `sort=${sort}&direction=${direction}`,
      ]),
    ),
  ),
  ...Object.fromEntries(SORTS.map((sort) => [`deep ${sort}`, `sort=${sort}&offset=RANDOM&limit=100`])),
  'last page': `offset=${last}&limit=100`,
  'deep settled': 'status=settled&offset=RANDOM',
  'deep corridor by notional': 'corridor=one-one&sort=amount_usd&offset=RANDOM',
  'deep lp by speed': 'lp=seed-lp-1&sort=settlement_speed_ms&offset=RANDOM',
  'deep in dates': `createdAfter=${iso(0.2)}&createdBefore=${iso(0.8)}&offset=RANDOM`,
  'deep notional by notional': 'minAmountUsd=100&sort=amount_usd&offset=RANDOM',
  'deep notional by date': 'minAmountUsd=100&maxAmountUsd=10000&offset=RANDOM',
  'dates by lp': `createdAfter=${iso(0.2)}&createdBefore=${iso(0.8)}&sort=lp_name`,
  'dates and notional by member': `createdAfter=${iso(0.2)}&createdBefore=${iso(0.8)}&minAmountUsd=100&maxAmountUsd=10000&sort=member`,
};

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const p99Ms: Record<string, number> = {};
const p50Ms: Record<string, number> = {};
const cpuMs: Record<string, number> = {};
for (let round = 0; round < WARM_UP_ROUNDS; round += 1)
  for (const query of Object.values(queries)) await time('trades', query.replace('RANDOM', '0'));
for (const [name, query] of Object.entries(queries)) {
  const [first] = await time('trades', query.replace('RANDOM', '0'));
  const total = Math.max(1, (JSON.parse(first.text) as { total: number }).total);
  const times: number[] = [];
  let before = cpuUsed();
  for (let run = -WARM_UP; run < RUNS; run += 1) {
    if (run === 0) before = cpuUsed();
    const [{ ms }] = await time(
      'trades',
      query.replace('RANDOM', String(Math.floor((((run * 7919 + 104_729) % 10_007) / 10_007) * total))),
    );
    if (run >= 0) times.push(ms);
  }
  [p50Ms[name], p99Ms[name]] = [quantile(times, 0.5), quantile(times, 0.99)];
  const micros = Object.values(cpuPer(RUNS, before, cpuUsed())).reduce((sum, each) => sum + each, 0);
  cpuMs[name] = round(micros / 1000);
  console.error(
    `${name.padEnd(34)} total ${String(total).padStart(8)}${total > LONGEST_TOTAL ? '' : ' '}  p50 ${p50Ms[name]} ms  p99 ${p99Ms[name]} ms  CPU ${cpuMs[name]} ms`,
  );
}

const bare: number[] = [];
for (let run = -WARM_UP; run < RUNS; run += 1) {
  const startedMs = performance.now();
  await db.query({
    name: 'bare',
    text: 'select order_id, terms, state from trade where book = 1 order by created_at_ms desc, order_id desc limit 25',
  });
  if (run >= 0) bare.push(performance.now() - startedMs);
}
const empty: number[] = [];
for (let run = 0; run < RUNS; run += 1) empty.push((await time('nothing', ''))[0].ms);

const exported = await exportAll();
await http.close();
await keyring.stop();
await stop();
agent.destroy();
const isFirstPage = (name: string) => !/^(?:deep|last)/.test(name);
const slowest = (figures: Record<string, number>) => {
  const [query, ms] = Object.entries(figures).reduce((most, each) => (each[1] > most[1] ? each : most));
  return { query, ms };
};
const firstPages = (figures: Record<string, number>) =>
  Object.fromEntries(Object.entries(figures).filter(([name]) => isFirstPage(name)));
console.log(
  JSON.stringify({
    bench: 'history',
    rows: span.n,
    runs: RUNS,
    p99Ms,
    p50Ms,
    cpuMs,
    slowest: { p50: slowest(p50Ms), p99: slowest(p99Ms) },
    slowestFirstPage: { p50: slowest(firstPages(p50Ms)), p99: slowest(firstPages(p99Ms)) },
    ceiling: {
      bareSelectP50Ms: quantile(bare, 0.5),
      bareSelectP99Ms: quantile(bare, 0.99),
      emptyAnswerP50Ms: quantile(empty, 0.5),
      emptyAnswerP99Ms: quantile(empty, 0.99),
    },
    ...exported,
    machine: { cpus: cpus().length, model: cpus()[0]?.model, node: process.version },
  }),
);
process.exit();

async function time(what: string, query: string): Promise<[{ ms: number; text: string }]> {
  const startedMs = performance.now();
  const text = await new Promise<string>((done, fail) => {
    request(
      `${http.url}/api/v1/workspaces/w1/${what}?${query}`,
      { agent, headers: { 'X-API-Key': key } },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () =>
          response.statusCode === 200
            ? done(Buffer.concat(parts).toString())
            : fail(new Error(`${response.statusCode} ${Buffer.concat(parts)}`)),
        );
      },
    )
      .on('error', fail)
      .end();
  });
  return [{ ms: performance.now() - startedMs, text }];
}

/** Read by another process, so that what grows here is the server's. */
async function exportAll(): Promise<{
  exportSeconds: number;
  exportRows: number;
  exportMb: number;
  exportRssGrowthMb: number;
}> {
  const rss = () => process.memoryUsage().rss / 1024 / 1024;
  const before = rss();
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, rss())), 50);
  const startedMs = performance.now();
  const script = `let rows = -1, bytes = 0; require('http').get(${JSON.stringify(`${http.url}/api/v1/workspaces/w1/trades/export`)}, { headers: { 'X-API-Key': process.env.KEY } }, (r) => r.on('data', (d) => { bytes += d.length; for (const b of d) if (b === 10) rows++; }).on('end', () => console.log(JSON.stringify({ rows, bytes, complete: r.complete }))))`;
  const child = spawn(process.execPath, ['-e', script], {
    env: { ...process.env, KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (part: Buffer) => (output += part));
  await new Promise((done) => child.on('close', done));
  clearInterval(watch);
  const { rows, bytes, complete } = JSON.parse(output) as { rows: number; bytes: number; complete: boolean };
  if (!complete || rows !== span?.n) throw new Error(`the export ended after ${rows} rows`);
  return {
    exportSeconds: round((performance.now() - startedMs) / 1000),
    exportRows: rows,
    exportMb: round(bytes / 1024 / 1024),
    exportRssGrowthMb: round(peak - before),
  };
}

function quantile(times: number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function option(name: string, fallback: number): number {
  const given = process.argv.find((word) => word.startsWith(`--${name}=`));
  return given === undefined ? fallback : Number(given.slice(name.length + 3));
}
