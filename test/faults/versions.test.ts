/** F38: this release and the next one run side by side on one database, under load. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkSchema, type Migration, migrate, SchemaError } from '../../src/adapters/postgres/migrate.ts';
import { connectDatabase, type Database } from '../../src/adapters/postgres/pool.ts';
import { createVenueStore } from '../../src/adapters/postgres/venue/venue-store.ts';
import { VENUE_TABLES } from '../../src/apps/venue/schema.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import { mintKey } from '../../src/venue/access/keys.ts';
import type { NewOrder } from '../../src/ports/stores/store.ts';
import { type Settling, startSettling } from '../support/settling.ts';
import { silentLog } from '../support/silent.ts';
import { diceOf } from './seed.ts';

/** The next release adds columns to every table that this one reads or writes as whole rows. */
const EXPAND: Migration = {
  id: 'z-next-1-expand',
  sql: [
    'api_key',
    'workspace',
    'solver',
    'trade_order',
    'order_fact',
    'order_event',
    'idempotency',
    'trade',
    'tx_signer',
    'tx_slot',
    'tx_attempt',
  ]
    .map((table) => `alter table ${table} add column next_note text;`)
    .join('\n'),
};
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

  await old.stop();
  await young.stop();
  await migrate(connect(), [...VENUE_TABLES, EXPAND, CONTRACT]);
  // The old release must stop, running or starting; the new one must not.
  await expect(checkSchema(ground.db, VENUE_TABLES)).rejects.toBeInstanceOf(SchemaError);
  await expect(migrate(connect(), [...VENUE_TABLES, EXPAND])).rejects.toThrow(/newer firmquote/);
  await expect(checkSchema(next, [...VENUE_TABLES, EXPAND, CONTRACT])).resolves.toBeUndefined();
});
