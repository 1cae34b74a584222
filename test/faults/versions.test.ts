/** F38: this release and the next one run side by side on one database, under load. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkSchema, type Migration, migrate, SchemaError } from '../../src/adapters/postgres/migrate.ts';
import { createJournalStore } from '../../src/adapters/postgres/lp/accounting-store.ts';
import { createLpStore } from '../../src/adapters/postgres/lp/lp-store.ts';
import { connectDatabase, type Database } from '../../src/adapters/postgres/pool.ts';
import { createAdminStore } from '../../src/adapters/postgres/venue/admin-store.ts';
import { createVenueStore } from '../../src/adapters/postgres/venue/venue-store.ts';
import { LP_TABLES } from '../../src/apps/lp/schema.ts';
import { VENUE_TABLES } from '../../src/apps/venue/schema.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import { mintKey } from '../../src/venue/access/keys.ts';
import type { JournalBatch, PositionRow } from '../../src/ports/stores/accounting-store.ts';
import type { LpAward } from '../../src/ports/stores/lp-store.ts';
import type { Member } from '../../src/ports/stores/members.ts';
import type { NewOrder } from '../../src/ports/stores/store.ts';
import { type Settling, startSettling } from '../support/settling.ts';
import { silentLog } from '../support/silent.ts';
import { diceOf } from './seed.ts';

/** The next release adds columns to every table that this one reads or writes as whole rows. */
const expand = (tables: readonly string[]): Migration => ({
  id: 'z-next-1-expand',
  sql: tables.map((table) => `alter table ${table} add column next_note text;`).join('\n'),
});
const EXPAND = expand([
  'api_key',
  'workspace',
  'member',
  'solver',
  'trade_order',
  'order_fact',
  'order_event',
  'idempotency',
  'trade',
  'tx_signer',
  'tx_slot',
  'tx_attempt',
]);
const LP_TABLE_NAMES = ['lp_position', 'lp_journal_cursor', 'lp_taker', 'lp_award', 'lp_balance', 'lp_trade'];
const LP_EXPAND = expand(LP_TABLE_NAMES);
/** The release after it removes columns. */
const CONTRACT: Migration = {
  id: 'z-next-2-contract',
  sql: 'alter table trade_order drop column reference_id',
  contract: true,
};

let ground: Settling;
const opened: Database[] = [];

beforeAll(async () => {
  ground = await startSettling([41_531, 41_532]);
}, 120_000);
afterAll(async () => {
  await ground?.stop();
  await Promise.all(opened.map((db) => db.close()));
});

function connect(schema = ground.db.schema): Database {
  const db = connectDatabase({ url: ground.db.url, schema, log: silentLog, maxConnections: 6 });
  opened.push(db);
  return db;
}

const memberOf = (id: string): Member => ({
  workspaceId: 'test',
  id,
  firstName: 'Grace',
  lastName: 'Hopper',
  email: `${id}@example.com`,
  role: 'owner',
  kycStatus: 'none',
  joinedAtMs: 1,
  removedAtMs: null,
});

const word = (digit: string) => `0x${digit.repeat(64)}` as const;
const position = (asset: string): PositionRow => ({
  asset,
  quantity: 5n,
  costMicros: 1n,
  realisedMicros: 2n,
  ownerMicros: 3n,
  unpriced: 0n,
  unrealisedMicros: 4n,
});

test('F38: an LP of the old release keeps its books while the new one has added columns', async () => {
  const db = await ground.postgres.database('lp_f38', LP_TABLES);
  const lp = createLpStore(db);
  const books = createJournalStore(db);
  await books.open((await lp.open()).epoch);
  const trade = await ground.accept();
  const award: LpAward = {
    orderId: trade.orderId,
    quoteId: trade.quoteId,
    order: trade.order,
    outputIndex: 0,
    commitment: null,
    stage: 'committed',
    fill: null,
    note: null,
    acceptedAtMs: 1,
    updatedAtMs: 1,
  };
  const nothing = { entries: [], gas: [], trades: [], transfers: [], explanations: [] };
  const first: JournalBatch = {
    ...nothing,
    entries: [
      {
        id: 'opening:1',
        kind: 'opening',
        atMs: 5,
        orderId: null,
        chainId: 7,
        block: 1n,
        txHash: null,
        postings: [
          { account: 'assets:inventory', chainId: 7, token: 'native', amount: 9n },
          { account: 'equity:owner', chainId: 7, token: 'native', amount: -9n },
        ],
      },
    ],
    cursors: [{ chainId: 7, block: 1n, hash: word('1'), nonce: 0 }],
    positions: [position('WETH')],
    takers: [{ key: 'tier:all', means: [1], trades: [1], seenMs: 9 }],
  };
  expect(await books.write(first)).toBe(true);
  expect(await lp.putAward(award)).toBe(true);

  const next = connect('lp_f38');
  expect(await migrate(next, [...LP_TABLES, LP_EXPAND])).toEqual([LP_EXPAND.id]);
  for (const table of LP_TABLE_NAMES) await next.query(`update ${table} set next_note = 'new'`);
  // The old release restarts, then writes loaded rows and rows of its own in one transaction.
  const reopened = await lp.open();
  expect(reopened.awards).toEqual([award]);
  const { cursors, positions, takers, balances } = await books.open(reopened.epoch);
  expect(cursors).toEqual(first.cursors);
  expect(positions).toEqual(first.positions);
  expect(takers).toEqual(first.takers);
  expect(balances).toHaveLength(2);
  expect(balances).toContainEqual(first.entries[0]?.postings[0]);
  const second: JournalBatch = {
    ...nothing,
    cursors: [...cursors, { chainId: 8, block: 1n, hash: word('2'), nonce: 0 }],
    positions: [...positions, position('USDC')],
    takers: [...takers, { key: 'tier:one', means: [1], trades: [1], seenMs: 8 }],
  };
  expect(await books.write(second)).toBe(true);
  for (const loaded of reopened.awards) expect(await lp.putAward({ ...loaded, stage: 'filled' })).toBe(true);
  expect(await lp.award(trade.orderId)).toEqual({ ...award, stage: 'filled' });
  for (const [table, rows] of [
    ['lp_position', 1],
    ['lp_journal_cursor', 1],
    ['lp_taker', 1],
    ['lp_award', 1],
    ['lp_balance', 2],
  ] as const)
    expect(await next.query(`select 1 from ${table} where next_note = 'new'`)).toHaveLength(rows);
});

test('F38: the old release runs beside the new one, every order ends once, and the old one stops before it can do harm', async () => {
  const dice = diceOf('F38');
  const old = await ground.worker();
  const { text, record } = mintKey(
    { random: systemRandom, clock: systemClock },
    {
      kind: 'service',
      mode: 'test',
      workspaceId: 'test',
      role: null,
      memberId: null,
      solverId: null,
      label: 'F38',
    },
  );
  await ground.store.addKey(record);
  const admin = createAdminStore(ground.db);
  const member = memberOf('m1');
  await admin.change((tx) => tx.putMember(member));
  const workspace = await ground.store.workspace('test');
  expect(text).toBeTruthy();
  // Endpoints of the old release: each of its connections has prepared its statements.
  const oldReads = () => Promise.all(Array.from({ length: 12 }, () => ground.store.findKey(record.lookup)));
  await oldReads();

  const trades: NewOrder[] = [];
  const [before, during] = [2 + Math.floor(dice.next() * 3), 3 + Math.floor(dice.next() * 3)];
  for (let n = 0; n < before; n += 1) trades.push(await ground.accept());

  // Several processes of the new release start together, while the old one settles.
  const starts = await Promise.all(
    [connect(), connect(), connect()].map((db) => migrate(db, [...VENUE_TABLES, EXPAND])),
  );
  expect(starts.flat()).toEqual([EXPAND.id]);
  const next = connect();
  await Promise.all([oldReads(), ground.accept().then((trade) => trades.push(trade))]);
  const young = await ground.worker({ db: next });
  const theirs = createVenueStore(next);
  for (let n = 0; n < during; n += 1)
    trades.push(await ground.accept({}, {}, dice.next() < 0.5 ? theirs : ground.store));
  // An old process can still start.
  expect(await migrate(connect(), VENUE_TABLES)).toEqual([]);
  await ground.reach('settled', trades);
  for (const { orderId } of trades)
    expect((await ground.store.events(orderId)).map(({ type }) => type)).toEqual([
      'order.created',
      'order.settled',
    ]);
  // One transaction opened each order.
  const events = await ground.here.port.events(0n, ground.here.port.head()?.number ?? 0n);
  for (const { orderId } of trades)
    expect(events.filter((event) => event.kind === 'open' && event.orderId === orderId)).toHaveLength(1);
  await oldReads();

  // A row that the old release loads and writes back keeps what the new one wrote meanwhile.
  await admin.change(async (tx) => {
    const [loaded] = await tx.members('test');
    const place = await tx.workspace('test');
    expect(loaded).toEqual(member);
    expect(place).toEqual(workspace);
    await next.query(`update member set next_note = 'new'`);
    await next.query(`update workspace set next_note = 'new'`);
    if (loaded) await tx.putMember({ ...loaded, firstName: 'Ada' });
    if (place) await tx.putWorkspace({ ...place, name: 'Renamed' });
  });
  expect(await next.query('select first_name, next_note from member')).toEqual([
    { first_name: 'Ada', next_note: 'new' },
  ]);
  expect(await next.query('select name, next_note from workspace')).toEqual([
    { name: 'Renamed', next_note: 'new' },
  ]);

  await old.stop();
  await young.stop();
  await migrate(connect(), [...VENUE_TABLES, EXPAND, CONTRACT]);
  // The old release must stop, running or starting; the new one must not.
  await expect(checkSchema(ground.db, VENUE_TABLES)).rejects.toBeInstanceOf(SchemaError);
  await expect(migrate(connect(), [...VENUE_TABLES, EXPAND])).rejects.toThrow(/newer firmquote/);
  await expect(checkSchema(next, [...VENUE_TABLES, EXPAND, CONTRACT])).resolves.toBeUndefined();
});
