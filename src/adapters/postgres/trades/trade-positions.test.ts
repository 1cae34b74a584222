/**
 * The law of cursors, in a real database: while many writers accept orders and move them on, a reader that
 * goes on after its last position gets every trade once, and the last state of each.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { SEEDED_CHAINS } from '../../../../bench/seeded.ts';
import { seedTrades } from '../../../../bench/trade-seed.ts';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import type { Hex } from '../../../domain/hex.ts';
import type { RecordedFact } from '../../../domain/fact.ts';
import type { Claim, OrderRecord } from '../../../ports/stores/store.ts';
import type { ExportedTrade, TradePoint, TradeQuery } from '../../../ports/stores/trades.ts';
import type { VenueStore } from '../../../ports/stores/venue-store.ts';
import { VENUE_MIGRATIONS } from '../migrations/venue.ts';
import type { Database } from '../pool.ts';
import { createVenueStore } from '../venue/venue-store.ts';
import { rebuildTrades } from './trade-rebuild.ts';
import { createTradeStore } from './trade-store.ts';

const book = { workspaceId: 'w1', mode: 'test' } as const;
const everything: TradeQuery = {
  book,
  matches: () => true,
  stages: null,
  createdFromMs: null,
  createdToMs: null,
  minUsd: null,
  maxUsd: null,
  sort: { by: 'created_at' },
  direction: 'desc',
};
const WRITERS = 6;
const ORDERS = 180;

let postgres: TestPostgres;
let db: Database;
/** Orders of another workspace with all their facts, to be written again. */
let sources: OrderRecord[];

beforeAll(async () => {
  postgres = await startTestPostgres();
  db = await postgres.database('venue', VENUE_MIGRATIONS);
  await seedTrades(db, {
    book: { ...book, workspaceId: 'source' },
    rows: ORDERS,
    seed: 11,
    chains: SEEDED_CHAINS,
    lps: ['lp-a', 'lp-b'],
    members: ['m1'],
    untilMs: 1_790_000_000_000,
    days: 3,
    usd: { USD: 1, ETH: 2_500 },
  });
  const store = createVenueStore(db);
  const ids = await db.query<{ order_id: Buffer }>('select order_id from trade_order order by order_id');
  sources = [];
  for (const { order_id } of ids)
    sources.push((await store.order(`0x${order_id.toString('hex')}`)) as OrderRecord);
}, 120_000);
afterAll(() => postgres.stop());

const stateOf = ({ state, speedMs, amountUsd }: ExportedTrade) => JSON.stringify([state, speedMs, amountUsd]);

/** Accepts the orders, then appends their facts in turns: the first to each, then the second to each. */
async function write(store: VenueStore, from: readonly OrderRecord[]): Promise<void> {
  const flip = (hex: string) => `0x${hex.slice(2).split('').reverse().join('')}` as const;
  const open: { claim: Claim; record: OrderRecord; facts: RecordedFact[] }[] = [];
  for (const source of from) {
    const orderId = flip(source.orderId);
    const order = { ...source.order, nonce: BigInt(orderId) };
    const record = { ...source, workspaceId: 'w1', orderId, quoteId: flip(source.quoteId), order };
    expect((await store.accept(record, '{}', null)).kind).toBe('accepted');
    const [claim] = await store.claim([orderId], 'test', 60_000);
    if (!claim) throw new Error('not claimed');
    open.push({ claim, record, facts: source.facts.slice(0, 1) });
  }
  for (let more = true; more;) {
    more = false;
    for (const each of open) {
      const next = each.record.facts[each.facts.length];
      if (!next) continue;
      more = true;
      const outcome = { status: 'pending', final: false, event: null, atMs: next.recordedAtMs } as const;
      const before = { order: each.record.order, facts: each.facts };
      expect(await store.append(each.claim, before, [next.fact], outcome)).toBe(true);
      each.facts = [...each.facts, next];
    }
  }
}

test(
  'a reader of each order gets every trade, the last state of each, and nothing twice that has not changed',
  { timeout: 120_000 },
  async () => {
    // Transactions end in another order than they wrote.
    await db.query(`
      create function ends_late() returns trigger language plpgsql as $$ begin perform pg_sleep(random() * 0.008); return null; end $$;
      create constraint trigger ends_late after insert or update on trade deferrable initially deferred
        for each row execute function ends_late()`);
    // As on replicas: each with its own batches.
    const stores = Array.from({ length: 2 }, () => createVenueStore(db));
    let writing = true;
    const writers = Promise.all(
      Array.from({ length: WRITERS }, async (_, first) => {
        const own = sources.filter((_source, index) => index % WRITERS === first);
        await write(stores[first % 2] as VenueStore, own);
      }),
    ).finally(() => (writing = false));

    const trades = createTradeStore(db);
    const read: Record<TradePoint['by'], ExportedTrade[]> = { created: [], changed: [] };
    let exports = 0;
    /** Breaks off in the middle every third time, and goes on after the last row that it took. */
    async function goOn(by: TradePoint['by'], whole: boolean): Promise<void> {
      const rows = await trades.exportAll(everything, { by, after: read[by].at(-1)?.position ?? 0 });
      if (typeof rows === 'string') throw new Error(rows);
      exports += 1;
      for await (const batch of rows) {
        const taken = whole || exports % 3 > 0 ? batch : batch.slice(0, Math.ceil(batch.length / 2));
        read[by].push(...taken);
        if (taken.length < batch.length) break;
      }
    }
    while (writing) {
      await goOn('created', false);
      await goOn('changed', false);
    }
    await writers;
    const during = { created: read.created.length, changed: read.changed.length };
    await goOn('created', true);
    await goOn('changed', true);

    const now = new Map<Hex, string>();
    for await (const batch of (await trades.exportAll(everything)) as AsyncGenerator<ExportedTrade[]>)
      for (const row of batch) now.set(row.orderId, stateOf(row));
    expect(now.size).toBe(ORDERS);
    // The reading was concurrent with the writing.
    expect(exports).toBeGreaterThan(6);
    expect(during.created).toBeGreaterThan(0);

    expect(read.created.map(({ orderId }) => orderId).sort()).toEqual([...now.keys()].sort());
    const seen = new Map<Hex, string>();
    for (const row of read.changed) {
      expect(seen.get(row.orderId)).not.toBe(stateOf(row));
      seen.set(row.orderId, stateOf(row));
    }
    expect([...seen].sort()).toEqual([...now].sort());
    expect(read.changed.length).toBeGreaterThan(ORDERS);
    for (const rows of Object.values(read)) {
      const positions = rows.map(({ position }) => position as number);
      expect(positions).toEqual([...new Set(positions)].sort((one, other) => one - other));
    }

    // Nothing new, nothing again; nor after a rebuild, which writes what was there.
    await db.query('drop trigger ends_late on trade');
    await rebuildTrades(db);
    for (const by of ['created', 'changed'] as const) {
      const before = read[by].length;
      await goOn(by, true);
      expect(read[by]).toHaveLength(before);
    }
  },
);

test('a position that nobody has been given is told apart from one with nothing after it', async () => {
  const trades = createTradeStore(db);
  const nobody = { ...everything, book: { ...book, workspaceId: 'nobody' } };
  expect(await trades.exportAll(nobody, { by: 'created', after: 1 })).toBe('ahead');
  expect(await trades.exportAll(everything, { by: 'changed', after: 10 ** 9 })).toBe('ahead');
  const rows = (await trades.exportAll(nobody, { by: 'created', after: 0 })) as AsyncGenerator<
    ExportedTrade[]
  >;
  expect(await rows.next()).toMatchObject({ done: true });
});
