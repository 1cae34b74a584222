/**
 * History in a real database: whatever is asked, the answer is the one that a look at every trade would give.
 */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import fc from 'fast-check';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { ETHER, type Chain } from '../../../src/domain/chain.ts';
import type { Hex } from '../../../src/domain/hex.ts';
import type { OrderRecord } from '../../../src/ports/stores/store.ts';
import type { VenueStore } from '../../../src/ports/stores/venue-store.ts';
import {
  type ExportedTrade,
  ORDER_KINDS,
  type TradeFamily,
  type TradeGroup,
  type TradePoint,
  type TradeQuery,
  type TradeRow,
  type TradeStore,
  type TradeUpkeep,
} from '../../../src/ports/stores/trades.ts';
import { STAGES, type OrderStage } from '../../../src/settlement/lifecycle.ts';
import { VENUE_MIGRATIONS } from '../../../src/adapters/postgres/migrations/venue.ts';
import type { Database } from '../../../src/adapters/postgres/pool.ts';
import { recountTrades } from '../../../src/adapters/postgres/trades/trade-counts.ts';
import { adoptTrades, rebuildTrades } from '../../../src/adapters/postgres/trades/trade-rebuild.ts';
import { seedTrades, type TradeSeed } from '../../../bench/trade-seed.ts';
import {
  TRADE_COLUMNS,
  type TradeDbRow,
  tradeFromRow,
} from '../../../src/adapters/postgres/trades/trade-rows.ts';
import { createTradeStore } from '../../../src/adapters/postgres/trades/trade-store.ts';
import { createVenueStore } from '../../../src/adapters/postgres/venue/venue-store.ts';

const book = { workspaceId: 'w1', mode: 'test' } as const;
const SMALL = { bucketSize: 150, limits: { gather: 60, walk: 10, exact: 250 } };
const ROWS = 1_350;
const UNCOUNTED = 150;

let postgres: TestPostgres;
let db: Database;
let store: VenueStore;
let trades: TradeStore & TradeUpkeep;
let all: (TradeRow & TradeGroup)[];

const token = (n: number, symbol: string, decimals: number) => ({
  address: `0x${String(n).repeat(40)}` as const,
  symbol,
  name: symbol,
  decimals,
  eip3009: null,
  priceSymbol: symbol,
});
const chain = (id: number, slug: string): Chain => ({
  id,
  slug,
  sandbox: true,
  escrow: `0x${'e'.repeat(40)}`,
  oracle: `0x${'0a'.repeat(20)}`,
  permit2: `0x${'0b'.repeat(20)}`,
  depth: 1,
  blockTimeMs: 1_000,
  native: ETHER,
  tokens: [token(1, 'USD', 6), token(2, 'ETH', 18)],
  landingMarginSeconds: 20,
  proofWindowSeconds: 60,
});
const seed: TradeSeed = {
  book,
  rows: ROWS,
  seed: 7,
  chains: [chain(1, 'one'), chain(2, 'two')],
  lps: ['lp-a', 'lp-b', 'lp-c'],
  members: ['m1', 'm2', 'm3'],
  untilMs: 1_790_000_000_000,
  days: 30,
  usd: { USD: 1, ETH: 2_500 },
};

beforeAll(async () => {
  postgres = await startTestPostgres();
  db = await postgres.database('venue', VENUE_MIGRATIONS);
  store = createVenueStore(db);
  trades = createTradeStore(db, SMALL);
  await seedTrades(db, { ...seed, rows: ROWS - UNCOUNTED });
  // Some that are not counted yet, and as many again in another book and another workspace's.
  await seedTrades(db, { ...seed, book: { ...book, mode: 'live' }, rows: 100, seed: 8 });
  await seedTrades(db, { ...seed, book: { ...book, workspaceId: 'w2' }, rows: 100, seed: 9 });
  for (const { id } of await db.query<{ id: number }>('select id from trade_book'))
    await recountTrades(db, id, SMALL);
  await addUncounted(UNCOUNTED);
  all = await everyTrade();
}, 120_000);
afterAll(() => postgres.stop());

/** As a venue writes them: accepted, then moved by facts, and not folded. */
async function addUncounted(n: number): Promise<void> {
  const source = await db.query<{ order_id: Buffer }>(
    'select order_id from trade_order where mode = $1 order by order_id limit $2',
    ['test', n],
  );
  const ids = source.map(({ order_id }) => `0x${order_id.toString('hex')}` as const);
  // A few at a time: a busy machine has few connections to give.
  await Promise.all(
    Array.from({ length: 4 }, async (_, first) => {
      for (let index = first; index < ids.length; index += 4)
        await addOne((await store.order(ids[index] as Hex)) as OrderRecord, index);
    }),
  );
}

async function addOne(record: OrderRecord, index: number): Promise<void> {
  const flip = (hex: string) => `0x${hex.slice(2).split('').reverse().join('')}` as const;
  const fresh = {
    ...record,
    workspaceId: 'w1',
    orderId: flip(record.orderId),
    quoteId: flip(record.quoteId),
    order: { ...record.order, nonce: BigInt(flip(record.orderId)) },
    createdAtMs: record.createdAtMs + index,
  };
  expect((await store.accept(fresh, '{}', null)).kind).toBe('accepted');
  const [claim] = await store.claim([fresh.orderId], 'test', 60_000);
  if (!claim) throw new Error('not claimed');
  let before: Pick<OrderRecord, 'order' | 'facts'> = {
    order: fresh.order,
    facts: record.facts.slice(0, 1).map((fact) => ({ ...fact, recordedAtMs: fresh.createdAtMs })),
  };
  for (const fact of record.facts.slice(1, 1 + (index % 6))) {
    expect(
      await store.append(claim, before, [fact.fact], {
        status: 'pending',
        final: false,
        event: null,
        atMs: fact.recordedAtMs,
      }),
    ).toBe(true);
    before = { ...before, facts: [...before.facts, fact] };
  }
}

async function everyTrade(): Promise<(TradeRow & TradeGroup)[]> {
  const rows = await db.query<TradeDbRow>(
    `select ${TRADE_COLUMNS} from trade t join trade_family f on f.id = t.cell / 8 join trade_order o using (order_id) where o.workspace_id = 'w1' and o.mode = 'test'`,
  );
  return rows
    .map(tradeFromRow)
    .map((row) => ({
      ...row,
      sourceChainId: row.terms.sourceChainId,
      destChainId: row.terms.destChainId,
      lp: row.terms.lp,
      orderKind: row.terms.orderKind,
      stage: row.state.stage,
    }));
}

const GROUP_SORTS: Record<string, (group: TradeGroup) => string> = {
  member: ({ memberId }) => memberId ?? '',
  corridor: ({ sourceChainId, destChainId }) => `${sourceChainId}-${destChainId}`,
  lp: ({ lp }) => lp,
  kind: ({ orderKind }) => String(ORDER_KINDS.indexOf(orderKind)),
  stage: ({ stage }) => String(STAGES.indexOf(stage)),
};
async function exported(
  query: TradeQuery,
  from: TradeStore = trades,
  since?: TradePoint,
): Promise<AsyncGenerator<ExportedTrade[]>> {
  const rows = await from.exportAll(query, since);
  if (typeof rows === 'string') throw new Error(rows);
  return rows;
}
const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

interface Asked {
  lp: string | null;
  member: string | null;
  sourceChainId: number | null;
  stages: OrderStage[] | null;
  from: number | null;
  to: number | null;
  min: number | null;
  max: number | null;
  sort: string;
  direction: 'asc' | 'desc';
  limit: number;
  offset: number;
}

const day = 86_400_000;
const asked: fc.Arbitrary<Asked> = fc.record({
  lp: fc.option(fc.constantFrom('lp-a', 'lp-b', 'lp-c'), { freq: 2 }),
  member: fc.option(fc.constantFrom('m1', 'm2', 'm3'), { freq: 1 }),
  sourceChainId: fc.option(fc.constantFrom(1, 2), { freq: 1 }),
  stages: fc.option(fc.subarray([...STAGES], { minLength: 1 }), { freq: 1 }),
  from: fc.option(fc.integer({ min: seed.untilMs - 31 * day, max: seed.untilMs }), { freq: 1 }),
  to: fc.option(fc.integer({ min: seed.untilMs - 31 * day, max: seed.untilMs }), { freq: 1 }),
  min: fc.option(fc.double({ min: -5, max: 40_000, noNaN: true }), { freq: 1 }),
  max: fc.option(fc.double({ min: -5, max: 400_000, noNaN: true }), { freq: 1 }),
  sort: fc.constantFrom(
    'created_at',
    'amount_usd',
    'settlement_speed_ms',
    'order_id',
    ...Object.keys(GROUP_SORTS),
  ),
  direction: fc.constantFrom('asc', 'desc'),
  limit: fc.integer({ min: 1, max: 100 }),
  offset: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: ROWS + 50 })),
});

function queryOf(a: Asked): TradeQuery {
  const group = GROUP_SORTS[a.sort];
  return {
    book,
    matches: (family: TradeFamily) =>
      (a.lp === null || family.lp === a.lp) &&
      (a.member === null || family.memberId === a.member) &&
      (a.sourceChainId === null || family.sourceChainId === a.sourceChainId),
    stages: a.stages && new Set(a.stages),
    createdFromMs: a.from,
    createdToMs: a.to,
    minUsd: a.min,
    maxUsd: a.max,
    sort: group ? { by: 'group', key: group } : { by: a.sort as 'created_at' },
    direction: a.direction,
  };
}

/** The same by looking at every trade. */
function naive(a: Asked): string[] {
  const fits = all.filter(
    (row) =>
      (a.lp === null || row.lp === a.lp) &&
      (a.member === null || row.memberId === a.member) &&
      (a.sourceChainId === null || row.sourceChainId === a.sourceChainId) &&
      (a.stages === null || a.stages.includes(row.stage)) &&
      (a.from === null || row.createdAtMs >= a.from) &&
      (a.to === null || row.createdAtMs <= a.to) &&
      ((a.min === null && a.max === null) ||
        (row.amountUsd !== null &&
          row.amountUsd >= (a.min ?? 0) &&
          row.amountUsd <= (a.max ?? Number.POSITIVE_INFINITY))),
  );
  const group = GROUP_SORTS[a.sort];
  const value: (row: TradeRow & TradeGroup) => string | number =
    group ??
    {
      created_at: (row: TradeRow) => row.createdAtMs,
      amount_usd: (row: TradeRow) => row.amountUsd ?? -1,
      settlement_speed_ms: (row: TradeRow) => row.speedMs ?? -1,
      order_id: (row: TradeRow) => row.orderId,
    }[a.sort] ??
    (() => 0);
  const turn = a.direction === 'asc' ? 1 : -1;
  fits.sort((x, y) => {
    const [vx, vy] = [value(x), value(y)];
    return (
      turn *
      ((vx < vy ? -1 : vx > vy ? 1 : 0) || x.createdAtMs - y.createdAtMs || compareText(x.orderId, y.orderId))
    );
  });
  return fits.map(({ orderId }) => orderId);
}

test(
  'any filter, sort and page equals a scan of every trade, with some and with all rows counted',
  { timeout: 120_000 },
  async () => {
    const check = async (a: Asked) => {
      const expected = naive(a);
      const { rows, total } = await trades.page(queryOf(a), a.limit, a.offset);
      expect(rows.map(({ orderId }) => orderId)).toEqual(expected.slice(a.offset, a.offset + a.limit));
      const estimated =
        (a.from !== null || a.to !== null) &&
        (a.min !== null || a.max !== null) &&
        expected.length > SMALL.limits.exact;
      if (estimated) expect(total).toBeGreaterThan(SMALL.limits.exact);
      else expect(total).toBe(expected.length);
    };
    await fc.assert(fc.asyncProperty(asked, check), { numRuns: 120 });
    expect(await trades.fold()).toBeGreaterThan(20);
    await fc.assert(fc.asyncProperty(asked, check), { numRuns: 80 });
  },
);

test('an export equals the list from its first to its last row', { timeout: 60_000 }, async () => {
  for (const sort of ['created_at', 'amount_usd', 'lp', 'stage']) {
    const a: Asked = {
      lp: null,
      member: null,
      sourceChainId: 1,
      stages: null,
      from: null,
      to: null,
      min: 20,
      max: null,
      sort,
      direction: 'desc',
      limit: 1,
      offset: 0,
    };
    const found: string[] = [];
    for await (const rows of await exported(queryOf(a))) found.push(...rows.map(({ orderId }) => orderId));
    expect(found).toEqual(naive(a));
  }
});

test(
  'one export of a workspace at a time; an abandoned one frees its cursor, snapshot and slot',
  { timeout: 60_000 },
  async () => {
    const a: Asked = {
      lp: null,
      member: null,
      sourceChainId: null,
      stages: null,
      from: null,
      to: null,
      min: null,
      max: null,
      sort: 'created_at',
      direction: 'desc',
      limit: 1,
      offset: 0,
    };
    const open = async () =>
      (
        await db.query<{ n: number }>(
          `select count(*) as n from pg_stat_activity where datname = current_database() and application_name = 'firmquote export'`,
        )
      )[0]?.n;
    const first = await exported(queryOf(a));
    expect((await first.next()).value.length).toBeGreaterThan(0);
    expect(await trades.exportAll(queryOf(a))).toBe('busy');
    expect(
      await (await exported({ ...queryOf(a), book: { workspaceId: 'nobody', mode: 'test' } })).next(),
    ).toMatchObject({ done: true });
    expect(await open()).toBe(1);
    await first.return(undefined);
    await expect.poll(open).toBe(0);
    // Given up before it was read.
    await (await exported(queryOf(a))).return(undefined);
    await expect.poll(open).toBe(0);
    await (await exported(queryOf(a))).return(undefined);
  },
);

test('an export ends when one of its statements takes too long', async () => {
  const query = queryOf({
    ...{
      lp: null,
      member: null,
      sourceChainId: null,
      stages: null,
      from: null,
      to: null,
      min: null,
      max: null,
    },
    ...{ sort: 'created_at', direction: 'desc', limit: 1, offset: 0 },
  });
  const failed = (reading: Promise<unknown> | undefined) =>
    reading?.then(
      () => 'read',
      () => 'failed',
    );
  const strict = createTradeStore(db, { ...SMALL, exports: { statementMs: 200 } });
  await db.transaction(async (session) => {
    await session.query('lock table trade in access exclusive mode');
    expect(await failed(exported(query, strict).then((rows) => rows.next()))).toBe('failed');
  });
  await (await exported(query, strict)).return(undefined);
});

test(
  'rebuilt history equals the history written with the facts, row by row and count by count',
  { timeout: 120_000 },
  async () => {
    const dump = async () => ({
      trades: await db.query(
        'select order_id, book, cell, created_at_ms, amount, speed_ms, terms::text, state::text from trade order by order_id',
      ),
      fresh: await db.query('select * from trade_fresh order by book, order_id'),
      counts: await db.query('select * from trade_count order by book, sort, cell, bucket'),
    });
    // Buckets are drawn anew by a rebuild; what ended is counted before, so that both start from the same.
    while ((await trades.fold()) > 0);
    const written = await dump();
    await rebuildTrades(db, SMALL);
    const live = await dump();
    expect(live.trades).toEqual(written.trades);
    expect(live.fresh).toEqual(written.fresh);
    expect(live.trades).toHaveLength(ROWS + 200);
    await db.query(
      `update trade set cell = cell - cell % 8, amount = 1, speed_ms = 5, terms = '{}', state = '{}'`,
    );
    await db.query(
      'delete from trade where order_id in (select order_id from trade order by order_id limit 50)',
    );
    await db.query('delete from trade_count; delete from trade_fresh; delete from trade_fence');
    expect(await rebuildTrades(db, SMALL)).toBe(live.trades.length);
    expect(await dump()).toEqual(live);
  },
);

test('the next start adds rows that a version without history did not write', async () => {
  const before = await trades.page(
    queryOf({
      lp: null,
      member: null,
      sourceChainId: null,
      stages: null,
      from: null,
      to: null,
      min: null,
      max: null,
      sort: 'order_id',
      direction: 'asc',
      limit: 100,
      offset: 0,
    }),
    100,
    0,
  );
  await db.query(
    'delete from trade_fresh where order_id in (select order_id from trade order by order_id limit 20)',
  );
  await db.query(
    'delete from trade where order_id in (select order_id from trade order by order_id limit 20)',
  );
  expect(await trades.adopt()).toBe(20);
  expect(await trades.adopt()).toBe(0);
  const after = await trades.page(
    queryOf({
      lp: null,
      member: null,
      sourceChainId: null,
      stages: null,
      from: null,
      to: null,
      min: null,
      max: null,
      sort: 'order_id',
      direction: 'asc',
      limit: 100,
      offset: 0,
    }),
    100,
    0,
  );
  expect(after).toEqual(before);
});

test('an order that is accepted behind the running pass gets its row at the same start', async () => {
  const oldest = 'select order_id from trade order by order_id limit 1';
  const drop = async (which: string) => {
    await db.query(`delete from trade_fresh where order_id in (${which})`);
    await db.query(`delete from trade where order_id in (${which})`);
  };
  await drop('select order_id from trade order by order_id desc limit 3');
  let batches = 0;
  const busy: Database = {
    ...db,
    async transaction(work) {
      const result = await db.transaction(work);
      batches += 1;
      // The order with the lowest id has no row from now on, as if the previous release had just accepted it.
      if (batches === 1) await drop(oldest);
      return result;
    },
  };
  expect(await adoptTrades(busy, SMALL)).toBe(4);
  expect(await adoptTrades(db, SMALL)).toBe(0);
});

test('the same seed makes the same trades', async () => {
  const one = await postgres.database('venue', VENUE_MIGRATIONS, 'seed_one');
  const two = await postgres.database('venue', VENUE_MIGRATIONS, 'seed_two');
  for (const each of [one, two]) await seedTrades(each, { ...seed, rows: 60 });
  const rows = (each: Database) =>
    each.query(
      'select order_id, created_at_ms, amount, speed_ms, terms::text, state::text from trade order by order_id',
    );
  expect(await rows(one)).toEqual(await rows(two));
  expect(readFileSync(new URL('../../../bench/trade-seed.ts', import.meta.url), 'utf8')).not.toMatch(
    /Math\.random|Date\.now/,
  );
});
