/**
 * Tests the books in a real database: whole batches or none, one keeper at a time, and everything back as it
 * was.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import type {
  JournalBatch,
  JournalEntry,
  PositionRow,
  TradeRecord,
} from '../../../ports/stores/accounting-store.ts';
import { migrate } from '../migrate.ts';
import type { Queryable } from '../pool.ts';
import { createJournalStore } from './accounting-store.ts';
import { createLpStore } from './lp-store.ts';
import { LP_MIGRATIONS } from '../migrations/lp.ts';

let postgres: TestPostgres;
let number = 0;

beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterAll(() => postgres.stop());

async function owned() {
  const db = await postgres.database(`journal_${(number += 1)}`, LP_MIGRATIONS);
  const lp = createLpStore(db);
  const store = createJournalStore(db);
  const { epoch } = await lp.open();
  return { db, lp, store, opening: await store.open(epoch) };
}

const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as const;
const TOKEN = `0x${'a'.repeat(40)}` as const;
const empty: JournalBatch = {
  entries: [],
  cursors: [],
  gas: [],
  trades: [],
  positions: [],
  transfers: [],
  takers: [],
  explanations: [],
};
const entry = (
  id: string,
  kind: JournalEntry['kind'],
  amount: bigint,
  orderId: JournalEntry['orderId'] = null,
): JournalEntry => ({
  id,
  kind,
  atMs: 5,
  orderId,
  chainId: 7,
  block: 2n ** 52n,
  txHash: word(9),
  postings: [
    { account: 'assets:inventory', chainId: 7, token: TOKEN, amount },
    { account: 'equity:owner', chainId: 7, token: TOKEN, amount: -amount },
  ],
});
const trade = (n: number, rest: Partial<TradeRecord> = {}): TradeRecord => ({
  orderId: word(n),
  quoteId: null,
  acceptedAtMs: 1_000 + n,
  taker: TOKEN,
  pair: 'WETH-USDC',
  corridor: 'a-b',
  side: 'buy',
  stage: 'filled',
  counted: true,
  mid: 2_500.25,
  late: false,
  paidMicros: 10n ** 10n,
  inputMicros: 10n ** 10n + 5_000_000n,
  feesMicros: 2_000_000n,
  earnedMicros: 10n ** 10n + 3_000_000n,
  paid: 2n ** 200n,
  earned: 1n,
  gasMicros: 500_000n,
  realisedMicros: -7n,
  marks: {},
  ...rest,
});

test('entries round-trip, with amounts of any size', async () => {
  const { store, opening, lp } = await owned();
  expect(opening).toEqual({
    cursors: [],
    gas: [],
    began: [],
    balances: [],
    positions: [],
    pending: [],
    trades: [],
    takers: [],
  });
  const batch: JournalBatch = {
    entries: [
      entry('opening:1', 'opening', 2n ** 250n),
      entry('owner:1', 'owner', -(2n ** 100n)),
      entry('fill:x', 'fill', 5n, word(1)),
      entry('fill:y', 'fill', 6n, word(2)),
      { ...entry('refund:z', 'refund', 0n, word(1)), postings: [] },
    ],
    cursors: [{ chainId: 7, block: 12n, hash: word(3), nonce: 4 }],
    gas: [{ chainId: 7, operator: TOKEN, nonce: 4, block: 2n ** 52n }],
    trades: [
      trade(1),
      trade(2, {
        stage: 'finalised',
        marks: {
          1: { bps: -1.5, atMs: 2, late: false },
          10: { bps: null, atMs: 3, late: true },
          60: { bps: 2, atMs: 4, late: false },
        },
      }),
    ],
    positions: [
      {
        asset: 'WETH',
        quantity: 10n ** 24n,
        costMicros: -3n,
        realisedMicros: 4n,
        ownerMicros: 5n,
        unpriced: 0n,
        unrealisedMicros: 4n,
      },
    ],
    transfers: [],
    takers: [{ key: 'tier:all', means: [1.5, -2, 0], trades: [3, 2, 1], seenMs: 9 }],
    explanations: [
      {
        orderId: word(1),
        quoteId: word(11),
        rfqId: 'rfq',
        atMs: 6,
        explanation: { kind: 'quote', summary: 's' },
      },
    ],
  };
  expect(await store.write(batch)).toBe(true);
  const again = await store.open((await lp.open()).epoch);
  expect(again.balances.find(({ account }) => account === 'assets:inventory')?.amount).toBe(
    2n ** 250n - 2n ** 100n + 11n,
  );
  expect(again).toMatchObject({
    cursors: batch.cursors,
    positions: batch.positions,
    takers: batch.takers,
    trades: [trade(1)],
  });
  expect(again.pending.map(({ id }) => id)).toEqual(['fill:x', 'fill:y']);
  expect(again.pending[0]).toEqual(batch.entries[2]);
  expect(await store.trade(word(2))).toEqual(batch.trades[1]);
  expect((await store.entries(word(1))).map(({ id, postings }) => [id, postings.length])).toEqual([
    ['fill:x', 2],
    ['refund:z', 0],
  ]);
  for (const id of [word(1), word(11), 'rfq'])
    expect(await store.explanations(id)).toEqual(batch.explanations);
  expect(await store.known(['fill:x', 'no'])).toEqual(new Set(['fill:x']));
  expect(await store.audit()).toEqual({ postings: 8, unbalanced: 0, astray: 0 });

  await store.write({
    ...empty,
    entries: [entry('sent:x', 'sent', -5n), entry('reversal:fill:y', 'reversal', -6n)],
  });
  expect((await store.open((await lp.open()).epoch)).pending).toEqual([]);
});

const position = (asset: string, quantity: bigint): PositionRow => ({
  asset,
  quantity,
  costMicros: 1n,
  realisedMicros: 2n,
  ownerMicros: 3n,
  unpriced: 0n,
  unrealisedMicros: 4n,
});

test('a column of the next release neither stops the books nor is overwritten', async () => {
  const { db, store, lp } = await owned();
  await store.write({
    ...empty,
    cursors: [{ chainId: 7, block: 12n, hash: word(3), nonce: 4 }],
    positions: [position('WETH', 5n)],
    takers: [{ key: 'tier:all', means: [1], trades: [1], seenMs: 9 }],
  });
  for (const table of ['lp_position', 'lp_journal_cursor', 'lp_taker'])
    await db.query(`alter table ${table} add column next_note text default 'old'`);
  const { positions, cursors, takers } = await store.open((await lp.open()).epoch);
  for (const table of ['lp_position', 'lp_journal_cursor', 'lp_taker'])
    await db.query(`update ${table} set next_note = 'new'`);
  // In one transaction, so on one connection, each statement name must stand for one text.
  const fresh: JournalBatch = {
    ...empty,
    cursors: [...cursors, { nonce: 1, hash: word(4), block: 1n, chainId: 8 }],
    positions: [...positions, position('USDC', 6n)],
    takers: [...takers, { seenMs: 8, trades: [2], means: [2], key: 'tier:one' }],
  };
  expect(await store.write(fresh)).toBe(true);
  expect(await store.open((await lp.open()).epoch)).toMatchObject({
    cursors: [{ chainId: 7 }, { chainId: 8, block: 1n, nonce: 1 }],
    positions: [position('WETH', 5n), position('USDC', 6n)],
    takers: [{ key: 'tier:all' }, { key: 'tier:one', means: [2] }],
  });
  expect(await db.query('select asset, next_note from lp_position order by asset')).toEqual([
    { asset: 'USDC', next_note: 'old' },
    { asset: 'WETH', next_note: 'new' },
  ]);
});

test('a fact that is already booked rejects its whole batch', async () => {
  const { store } = await owned();
  await store.write({ ...empty, entries: [entry('owner:1', 'owner', 5n)] });
  await expect(
    store.write({
      ...empty,
      entries: [entry('owner:2', 'owner', 7n), entry('owner:1', 'owner', 5n)],
      trades: [trade(1)],
    }),
  ).rejects.toThrow();
  expect(await store.known(['owner:1', 'owner:2'])).toEqual(new Set(['owner:1']));
  expect(await store.trade(word(1))).toBeUndefined();
  expect(await store.audit()).toMatchObject({ postings: 2, astray: 0 });
});

test('a process that was replaced writes nothing', async () => {
  const { store, lp } = await owned();
  await lp.open();
  expect(await store.write({ ...empty, entries: [entry('owner:1', 'owner', 5n)] })).toBe(false);
  expect(await store.known(['owner:1'])).toEqual(new Set());
});

test('profit by any grouping, with gas of failed orders and late facts', async () => {
  const { db, store } = await owned();
  const marks = { 1: { bps: 4, atMs: 1, late: false } };
  await store.write({
    ...empty,
    trades: [
      trade(1, { marks }),
      trade(2, { pair: 'USDC-USDC', late: true }),
      trade(3, { counted: false, stage: 'failed' }),
      trade(4, { stage: 'lost' }),
      trade(5, { acceptedAtMs: 1, counted: false, gasMicros: 0n }),
    ],
  });
  const always = { sinceMs: 0, untilMs: null };
  const { rows, all, timedFromMs } = await store.profit('pair', always, 10);
  expect(timedFromMs).toBe(null);
  expect(all).toMatchObject({ trades: 3, gasMicros: 2_000_000n, realisedMicros: -21n });
  expect(rows).toEqual([
    {
      key: 'WETH-USDC',
      trades: 2,
      volumeMicros: 2n * 10n ** 10n,
      grossMicros: 10_000_000n,
      feesMicros: 4_000_000n,
      gasMicros: 1_500_000n,
      lostMicros: 10n ** 10n + 3_000_000n,
      realisedMicros: -14n,
      markMicros: { 1: -4_000_000n, 10: 0n, 60: 0n },
      late: 0,
    },
    {
      key: 'USDC-USDC',
      trades: 1,
      volumeMicros: 10n ** 10n,
      grossMicros: 5_000_000n,
      feesMicros: 2_000_000n,
      gasMicros: 500_000n,
      lostMicros: 0n,
      realisedMicros: -7n,
      markMicros: { 1: 0n, 10: 0n, 60: 0n },
      late: 1,
    },
  ]);
  expect((await store.profit('trade', always, 2)).rows.map(({ key }) => key)).toEqual([word(4), word(3)]);
  // A figure is of the window in which it was booked, and what changes later is of a later one.
  const bookedMs = Math.max(...(await times(db)));
  await new Promise((resolve) => setTimeout(resolve, 5));
  await store.write({ ...empty, trades: [trade(1, { marks, gasMicros: 800_000n })] });
  const later = { sinceMs: bookedMs + 1, untilMs: null };
  expect((await store.profit('taker', later, 9)).rows).toMatchObject([
    { key: TOKEN, trades: 0, volumeMicros: 0n, gasMicros: 300_000n },
  ]);
  const before = { sinceMs: 0, untilMs: bookedMs + 1 };
  expect((await store.profit('pair', before, 10)).rows).toEqual(rows);
  expect((await store.profit('corridor', { sinceMs: 1, untilMs: 2 }, 9)).rows).toEqual([]);
});

const times = async (db: Queryable): Promise<number[]> =>
  (await db.query<{ at_ms: number }>('select distinct at_ms from lp_profit order by 1')).map(
    ({ at_ms }) => at_ms,
  );

test('a database of the previous release keeps its figures, and a window counts from when times are known', async () => {
  const db = await postgres.database(`journal_${(number += 1)}`, OLDER);
  const lp = createLpStore(db);
  const { epoch } = await lp.open();
  const columns =
    'order_id, accepted_at_ms, taker, pair, corridor, side, stage, counted, open, mid, late, paid_micros, input_micros, fees_micros, earned_micros, paid, earned, gas_micros, realised_micros, marks';
  const put = (n: number) =>
    db.query(
      `insert into lp_trade (${columns}) values ($1, 1, $2, 'A-B', 'a-b', 'buy', 'filled', true, false, 1, false, 100, 107, 2, 105, 1, 1, 3, 4, '{}')`,
      [Buffer.from(word(n).slice(2), 'hex'), Buffer.from(TOKEN.slice(2), 'hex')],
    );
  await put(1);
  await db.query(`insert into lp_position values ('WETH', 5, 6, 7, 8, 0)`);
  expect(await migrate(db, LP_MIGRATIONS)).toContain('lp-11-profit-by-time');
  // The previous release books a trade beside the new one.
  await put(2);
  const store = createJournalStore(db);
  const { positions } = await store.open(epoch);
  expect(positions).toMatchObject([{ asset: 'WETH', unrealisedMicros: null }]);
  await store.write({
    ...empty,
    positions: positions.map((row) => ({ ...row, realisedMicros: 9n, unrealisedMicros: 50n })),
  });
  await store.write({
    ...empty,
    positions: positions.map((row) => ({ ...row, realisedMicros: 9n, unrealisedMicros: 45n })),
  });
  const whole = await store.profit('pair', { sinceMs: 0, untilMs: null }, 9);
  expect(whole.rows).toMatchObject([
    { trades: 2, grossMicros: 14n, feesMicros: 4n, gasMicros: 6n, realisedMicros: 8n },
  ]);
  expect(whole.assets).toEqual([{ asset: 'WETH', realised: 9n, unrealised: 45n, owner: 8n }]);
  const timed = await store.profit('pair', { sinceMs: 1, untilMs: null }, 9);
  expect(timed.timedFromMs).toBeGreaterThan(1_000_000_000_000);
  expect(timed.rows).toMatchObject([{ trades: 1, grossMicros: 7n }]);
  expect(timed.assets).toEqual([{ asset: 'WETH', realised: 2n, unrealised: -5n, owner: 0n }]);
});

const LATER = new Set(['lp-11-profit-by-time', 'lp-14-transfers']);
const OLDER = LP_MIGRATIONS.filter(({ id }) => !LATER.has(id));
