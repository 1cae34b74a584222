/**
 * A database that is lost and comes back from a backup: what was accepted before comes to its end, nothing is
 * paid twice, and what came later is named.
 */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backUp, restoreBackup } from '../../../src/adapters/postgres/backup.ts';
import type { Migration } from '../../../src/adapters/postgres/migrate.ts';
import type { Database } from '../../../src/adapters/postgres/pool.ts';
import { auditVenue } from '../../../src/apps/audit/audit.ts';
import { markLpRestored, markVenueRestored } from '../../../src/apps/backup/after-restore.ts';
import { LP_SCHEMA, LP_TABLES } from '../../../src/apps/lp/schema.ts';
import { VENUE_TABLES } from '../../../src/apps/venue/schema.ts';
import { createLpStore } from '../../../src/adapters/postgres/lp/lp-store.ts';
import { createLeases } from '../../../src/lp/replicas/lease.ts';
import type { NewOrder } from '../../../src/ports/stores/store.ts';
import { type Settling, startSettling } from '../../support/settling.ts';
import { silentLog } from '../../support/silent.ts';

let ground: Settling;
let folder: string;
let inBackup: NewOrder[];
let early: NewOrder;
let waiting: NewOrder;
let crossed: NewOrder;
let later: NewOrder;

const file = () => join(folder, 'venue.backup');
const audit = () =>
  auditVenue(
    {
      db: ground.db,
      chains: ground.devnet.chains.map(({ port }) => port),
      startBlock: () => 0,
      sleep: (ms) => sleep(ms),
    },
    { sinceMs: 0, patienceMs: 1_000, everyMs: 500 },
  );
const destroy = (db: Database) => db.query(`drop schema ${db.schema} cascade`);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmquote-backup-'));
  ground = await startSettling([41_521, 41_522]);
}, 120_000);
afterAll(async () => {
  await ground?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a backup taken while orders arrive and settle', async () => {
  const worker = await ground.worker();
  early = await ground.accept();
  crossed = await ground.accept({ dest: ground.there });
  await ground.reach('settled', [early]);
  await ground.reach('escrowed', [crossed]);
  await worker.stop();
  // On record, and nothing of it on the chain.
  waiting = await ground.accept();
  inBackup = [early, crossed, waiting];
  await ground.store.placeEvents();
  const facts = await backUp(ground.db, file(), Date.now());
  expect(facts.rows).toMatchObject({ trade_order: 3, idempotency: 3, tx_signer: 2 });

  // What happens after it is done by the same relayer and is not in it.
  const after = await ground.worker({ relayer: worker.relayer });
  later = await ground.accept();
  await ground.fill(crossed);
  await ground.reach('settled', [crossed, waiting, later]);
  await after.stop();

  const seenPlaces = await ground.store.placeEvents();
  const paid = await ledgers();
  await destroy(ground.db);
  await restoreBackup(ground.db, file(), VENUE_TABLES, markVenueRestored);
  const again = await ground.worker({ relayer: worker.relayer });
  await ground.reach('settled', inBackup);
  await again.stop();
  await ground.store.trades.fold();

  // Every order of the backup has its end, and the chain was not asked for any of it again.
  expect(await ledgers()).toEqual(paid);
  expect(await ground.store.order(later.orderId)).toBeUndefined();
  // Whoever resumes the stream from a place given after the backup misses nothing that is placed from now on.
  await ground.store.placeEvents();
  const told = await ground.store.eventsAfter(seenPlaces, 100);
  for (const { orderId } of [crossed, waiting])
    expect(told).toContainEqual(expect.objectContaining({ orderId, type: 'order.settled' }));
});

test('the audit names what was lost, and nothing else', async () => {
  const { differences, unasked } = await audit();
  expect(unasked).toEqual([]);
  expect(differences).toMatchObject([
    {
      kind: 'unknown_order',
      subject: `${ground.here.chain.slug} ${later.orderId}`,
      found: expect.stringContaining('finalised'),
    },
  ]);
});

test('a lost order cannot be executed twice: its nonce is spent', async () => {
  expect(await ground.here.port.isNonceUsed(later.order.user, later.order.nonce)).toBe(true);
  expect(await ground.here.port.orderStatus(later.orderId)).toBe('claimed');
});

test('a restore into a database with rows is refused', async () => {
  await expect(restoreBackup(ground.db, file(), VENUE_TABLES, markVenueRestored)).rejects.toThrow(
    /not empty.*new database/s,
  );
});

test('a file that is truncated, changed, of another schema or of a newer version is refused as a whole', async () => {
  const whole = await readFile(file());
  const text = gunzipSync(whole).toString();
  const spoilt: [string, Buffer, RegExp][] = [
    ['cut', whole.subarray(0, whole.length / 2), /not a complete backup/],
    ['without its end', gzipSync(text.slice(0, text.lastIndexOf('~'))), /its end is missing/],
    ['changed by a unit', gzipSync(text.replace('"next_nonce":', '"next_nonce":1')), /checksum/],
    ['of nothing', Buffer.from('hello'), /not a complete backup/],
  ];
  const empty = await ground.postgres.database('venue', [], 'spoilt');
  for (const [name, bytes, why] of spoilt) {
    await writeFile(join(folder, name), bytes);
    await expect(
      restoreBackup(empty, join(folder, name), VENUE_TABLES, markVenueRestored),
      name,
    ).rejects.toThrow(why);
  }
  await expect(
    restoreBackup(empty, join(folder, 'missing'), VENUE_TABLES, markVenueRestored),
  ).rejects.toThrow(/no such file/);
  await expect(
    restoreBackup(await ground.postgres.database('other', []), file(), VENUE_TABLES, markVenueRestored),
  ).rejects.toThrow(/backup of "venue"/);
  await expect(restoreBackup(empty, file(), VENUE_TABLES.slice(0, -1), markVenueRestored)).rejects.toThrow(
    /newer firmquote/,
  );
  // Nothing of any of them was written, so the sound one still fits; a later migration runs over what it
  // brings.
  const next: Migration = {
    id: 'z-next',
    sql: 'alter table trade_order add column seal text; update trade_order set seal = order_id::text',
  };
  await restoreBackup(empty, file(), [...VENUE_TABLES, next], markVenueRestored);
  expect(await empty.query('select count(*)::int as n from trade_order where seal is not null')).toEqual([
    { n: 3 },
  ]);
  // Numbers that the database hands out go on where they were.
  expect(
    await empty.query(
      `insert into roster_transition (solver_id, from_status, to_status, reason, at_ms) values ('a', 'offline', 'active', 'x', 1) returning id`,
    ),
  ).toEqual([{ id: 1 }]);
  await expect(
    empty.query(`delete from trade_order where order_id = $1`, [Buffer.from(early.orderId.slice(2), 'hex')]),
  ).rejects.toThrow();
});

test('an LP restored from an old backup signs nothing until every later signature has expired', async () => {
  const db = await ground.postgres.database(LP_SCHEMA, LP_TABLES);
  const [chainId, now] = [ground.here.chain.id, ground.here.port.head()?.timestamp ?? 0];
  const store = createLpStore(db);
  await store.open();
  await store.writeLease(chainId, { signedUpTo: now + 20, clean: false });
  // A clean stop: without the backup's age it would sign at once.
  await store.stop({
    ledger: { books: { version: 1, clocks: [], buckets: [], deposits: [], withdrawals: [] }, chunks: [] },
    cursors: [],
  });
  const lpFile = join(folder, 'lp.backup');
  await backUp(db, lpFile, Date.now());
  // It went on and promised something for much later; then its database was lost.
  await store.open();
  await store.writeLease(chainId, { signedUpTo: now + 5_000, clean: false });
  await destroy(db);
  const signedUpTo = now + 4_000 + 5_000;
  await restoreBackup(db, lpFile, LP_TABLES, (session) =>
    markLpRestored(session, { chainIds: [chainId, ground.there.chain.id], signedUpTo }),
  );

  const opening = await createLpStore(db).open();
  expect(opening.clean).toBeNull();
  let time = now + 4_000;
  const rule = { longestQuoteSeconds: 60, aheadSeconds: 10, graceSeconds: 2 };
  const leases = createLeases(
    { store, log: silentLog, now: () => time, lastReadTime: () => time },
    {
      found: opening.leases,
      clean: opening.clean !== null,
      rules: new Map([
        [chainId, rule],
        [ground.there.chain.id, rule],
      ]),
    },
  );
  expect(leases.quarantine().map(({ until }) => until)).toEqual([signedUpTo + 2, signedUpTo + 2]);
  time = signedUpTo + 2;
  expect(leases.quarantine()).toHaveLength(2);
  time += 1;
  expect(leases.quarantine()).toEqual([]);
});

/**
 * What everybody has in the escrow, and every nonce of its users that is spent: a second payment would show
 * here.
 */
async function ledgers(): Promise<string[]> {
  const rows: string[] = [];
  for (const { port, chain, usdc, weth } of ground.devnet.chains) {
    for (const { address } of ground.lps)
      for (const token of [usdc, weth])
        rows.push(
          `${chain.slug} ${address} ${token.symbol} ${await port.ledgerBalance(address, token.address)}`,
        );
    for (const { order } of [early, waiting, crossed, later])
      for (const token of [usdc, weth])
        rows.push(
          `${chain.slug} ${order.user} ${token.symbol} ${await port.tokenBalance(order.user, token.address)}`,
        );
  }
  return rows;
}
