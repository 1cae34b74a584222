/**
 * Measures what a promise costs in the ledger, from the hold to the last claim, as live quotes and pairs
 * grow: it must not. Beside it, in the same run, the least that any ledger does: one entry into a map and one
 * addition of a bigint.
 */

import { cpus } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { HoldRequest } from '../src/inventory/event.ts';
import { createLpStore } from '../src/adapters/postgres/lp/lp-store.ts';
import { LP_MIGRATIONS } from '../src/adapters/postgres/migrations/lp.ts';
import { createLedger, type Ledger, type LedgerOptions } from '../src/inventory/ledger.ts';
import { restoreLedger } from '../test/support/restore-ledger.ts';
import { startTestPostgres } from '../test/support/postgres.ts';

const LIVE = [0, 1_000, 10_000, 100_000] as const;
const PAIRS = [1, 100, 1_000] as const;
const ROUNDS = Number(process.argv.find((word) => word.startsWith('--rounds='))?.slice(9) ?? 4_000);
const OPS = ['hold', 'accept', 'fill', 'finalise', 'exposure'] as const;
type Op = (typeof OPS)[number];

interface Figure {
  p50Micros: number;
  p99Micros: number;
}

const NOW = 1_000_000;
const token = (pair: number, side: 0 | 1) =>
  `0x${(2n ** 80n + BigInt(pair * 2 + side)).toString(16).padStart(40, '0')}` as const;

function fresh(pairs: number): { options: LedgerOptions; ledger: Ledger } {
  const buckets = Array.from({ length: pairs }, (_, pair) =>
    ([0, 1] as const).flatMap((side) =>
      [1, 2].map((chainId) => ({
        chainId,
        token: token(pair, side),
        asset: `A${pair}-${side}`,
        decimals: side === 0 ? 6 : 18,
      })),
    ),
  ).flat();
  const caps = { count: 10_000_000, notional: 10n ** 20n, gapLoss: 10n ** 20n };
  const options = {
    buckets,
    graceSeconds: () => 15,
    limits: {
      perTaker: caps,
      perTakerPair: caps,
      perPair: caps,
      perPairSide: caps,
      perAssetSide: caps,
      total: caps,
    },
  };
  const ledger = createLedger(options);
  for (const { chainId, token: address } of buckets)
    ledger.apply({
      type: 'deposited',
      id: `d ${chainId} ${address}`,
      chainId,
      token: address,
      amount: 10n ** 30n,
    });
  return { options, ledger };
}

let serial = 0;
function request(pairs: number, lapsesAt: number): HoldRequest {
  serial += 1;
  const pair = serial % pairs;
  const [sell, buy] = serial % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
  const orderId = `0x${serial.toString(16).padStart(64, '0')}`;
  return {
    orderId,
    chainId: 1,
    token: token(pair, sell),
    amount: 10n ** 18n + BigInt(serial),
    input: { chainId: 2, token: token(pair, buy), amount: 10n ** 9n },
    group: `2:0xtaker${serial % 200}:${serial}`,
    lapsesAt,
    taker: `0xtaker${serial % 200}`,
    pair: `A${pair}-USDC`,
    side: sell === 0 ? 'buy' : 'sell',
    notional: 2_500_000_000n,
    gapLoss: 1_000_000n,
    fillProbabilityBps: 3_500,
  };
}

/** Measures one quote's whole life, step by step, while `live` others wait. */
function measure(live: number, pairs: number): Record<Op, Figure> & { lapse: number } {
  const { ledger } = fresh(pairs);
  for (let n = 0; n < live; n += 1) ledger.hold(request(pairs, NOW + 10_000 + (n % 600)), NOW);
  const times = Object.fromEntries(OPS.map((op) => [op, new Float64Array(ROUNDS)])) as unknown as Record<
    Op,
    Float64Array
  >;
  const timed = (op: Op, at: number, work: () => void) => {
    const startedMs = performance.now();
    work();
    if (at >= 0) times[op][at] = (performance.now() - startedMs) * 1_000;
  };
  // The first tenth warms up.
  for (let at = -Math.ceil(ROUNDS / 10); at < ROUNDS; at += 1) {
    const asked = request(pairs, NOW + 60);
    const { orderId } = asked;
    timed('hold', at, () => expectHeld(ledger.hold(asked, NOW)));
    timed('accept', at, () => ledger.apply({ type: 'accepted', orderId }));
    timed('fill', at, () => ledger.apply({ type: 'filled', orderId, id: orderId }));
    timed('finalise', at, () => {
      ledger.apply({ type: 'fill_final', orderId, id: orderId });
      ledger.apply({ type: 'finalised', orderId, id: orderId, received: asked.input.amount });
    });
    timed('exposure', at, () => ledger.exposure(`A${serial % pairs}-0`));
  }
  const lapsing = 5_000;
  for (let n = 0; n < lapsing; n += 1) ledger.hold(request(pairs, NOW + 60), NOW);
  const startedMs = performance.now();
  for (let ended = 0; ended < lapsing;) ended += ledger.advance(2, NOW + 100);
  return {
    ...(Object.fromEntries(OPS.map((op) => [op, figure(times[op])])) as Record<Op, Figure>),
    lapse: round(((performance.now() - startedMs) * 1_000) / lapsing),
  };
}

function expectHeld(answer: object): void {
  if (!('held' in answer)) throw new Error(`not held: ${JSON.stringify(answer)}`);
}

/**
 * Lets as many lapse in one second as can be live, and measures one step of that and a hold in the middle of
 * it.
 */
function crowd(size: number): { longestStepMs: number; longestHoldMs: number; totalMs: number } {
  const { ledger } = fresh(1);
  for (let n = 0; n < size; n += 1) ledger.hold(request(1, NOW + 60), NOW);
  const over = NOW + 100;
  let [longestStepMs, longestHoldMs, totalMs] = [0, 0, 0];
  do {
    const startedMs = performance.now();
    ledger.advance(2, over);
    const steppedMs = performance.now();
    ledger.hold(request(1, over + 1_000), over);
    const heldMs = performance.now();
    longestStepMs = Math.max(longestStepMs, steppedMs - startedMs);
    longestHoldMs = Math.max(longestHoldMs, heldMs - steppedMs);
    totalMs += heldMs - startedMs;
    if (ledger.live > size + 1_000) throw new Error('a crowd does not lapse');
  } while (ledger.hasBacklog(2));
  return {
    longestStepMs: round(longestStepMs),
    longestHoldMs: round(longestHoldMs),
    totalMs: round(totalMs),
  };
}

/** A clean stop with many holds and the start after it, with the database. */
async function stopAndStart(
  size: number,
): Promise<{ holds: number; megabytes: number; stop: Took; start: Took }> {
  const postgres = await startTestPostgres({});
  try {
    const db = await postgres.database('bench_stop', LP_MIGRATIONS);
    const store = createLpStore(db);
    const { options, ledger } = fresh(1);
    for (let n = 0; n < size; n += 1) ledger.hold(request(1, NOW + 60 + (n % 60)), NOW);
    await store.open();
    const stop = await timed(async () => {
      if (!(await store.stop({ ledger: ledger.snapshotChunks(), cursors: [] })))
        throw new Error('not stopped');
    });
    const [{ bytes } = { bytes: 0 }] = await db.query<{ bytes: number }>(
      'select octet_length(clean::text) as bytes from lp_owner',
    );
    const start = await timed(async () => {
      const { clean } = await store.open();
      const again = clean && restoreLedger(options, clean.ledger);
      if (again?.live !== size) throw new Error('not restored');
    });
    return { holds: size, megabytes: round(bytes / 1e6), stop, start };
  } finally {
    await postgres.stop();
  }
}

interface Took {
  totalMs: number;
  /** The longest that the event loop was blocked meanwhile. */
  blockedMs: number;
}

async function timed(work: () => Promise<void>): Promise<Took> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedMs = performance.now();
  await work();
  const totalMs = performance.now() - startedMs;
  delay.disable();
  return { totalMs: round(totalMs), blockedMs: round(delay.max / 1e6) };
}

/** The least a ledger does. */
function bare(live: number): Figure {
  const entries = new Map<string, bigint>();
  let total = 0n;
  for (let n = 0; n < live; n += 1) entries.set(`0x${n.toString(16).padStart(64, 'f')}`, 1n);
  const times = new Float64Array(ROUNDS);
  for (let at = -Math.ceil(ROUNDS / 10); at < ROUNDS; at += 1) {
    const { orderId, amount } = request(1, NOW);
    const startedMs = performance.now();
    entries.set(orderId, amount);
    total += amount;
    if (at >= 0) times[at] = (performance.now() - startedMs) * 1_000;
  }
  if (total === 0n) throw new Error('nothing added');
  return figure(times);
}

function figure(times: Float64Array): Figure {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);
  return { p50Micros: at(0.5), p99Micros: at(0.99) };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

// Once for nothing, so that the first row is not the one in which everything is compiled.
measure(1_000, 1);
const rows = LIVE.flatMap((live) => PAIRS.map((pairs) => ({ live, pairs, ...measure(live, pairs) })));
const floors = LIVE.map((live) => ({ live, ...bare(live) }));
const worst = crowd(100_000);
const kept = await stopAndStart(100_000);

console.log('µs an operation, p50 / p99');
console.log(['live quotes', 'pairs', ...OPS, 'lapse'].map((word) => word.padStart(15)).join(''));
for (const row of rows) {
  const cells = OPS.map((op) => `${row[op].p50Micros.toFixed(2)} / ${row[op].p99Micros.toFixed(1)}`);
  console.log(
    [String(row.live), String(row.pairs), ...cells, row.lapse.toFixed(2)]
      .map((word) => word.padStart(15))
      .join(''),
  );
}
console.log(
  `\nMap entry and bigint addition alone: ${floors.map(({ live, p50Micros, p99Micros }) => `${p50Micros.toFixed(2)} / ${p99Micros.toFixed(1)} at ${live}`).join(', ')}`,
);
console.log(
  `100,000 lapse in one second: longest step ${worst.longestStepMs} ms, longest hold meanwhile ${worst.longestHoldMs} ms, ${worst.totalMs} ms in all`,
);
console.log(
  `A stop with 100,000 holds: ${kept.megabytes} MB in the database in ${kept.stop.totalMs} ms, the event loop blocked for at most ${kept.stop.blockedMs} ms; the start after it ${kept.start.totalMs} ms, ${kept.start.blockedMs} ms`,
);

const [least, most] = [rows[0], rows.at(-1)];
const [ground, floor] = [floors[0], floors.at(-1)];
if (least === undefined || most === undefined || ground === undefined || floor === undefined)
  throw new Error('nothing measured');
console.log(
  JSON.stringify({
    bench: 'ledger',
    op: 'hold with 100,000 live quotes in 1,000 pairs',
    ...most.hold,
    baseline: {
      what: 'Map entry and bigint addition, 100,000 entries',
      p50Micros: floor.p50Micros,
      p99Micros: floor.p99Micros,
    },
    ratio: round(most.hold.p50Micros / floor.p50Micros),
    // From nothing live to 100,000 quotes in 1,000 pairs; what the bare map grows by is what larger memory
    // costs anybody.
    growth: {
      ...Object.fromEntries(OPS.map((op) => [op, round(most[op].p50Micros / least[op].p50Micros)])),
      baseline: round(floor.p50Micros / ground.p50Micros),
    },
    crowd: worst,
    kept,
    rows,
    machine: { cpu: cpus()[0]?.model.trim(), cores: cpus().length, node: process.version },
  }),
);
