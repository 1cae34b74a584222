/**
 * A database with a history of made-up trades. Filling it takes minutes, so the folder is kept for later
 * benches.
 */

import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { startEmbeddedPostgres } from '../src/adapters/postgres/embedded/embedded.ts';
import { migrate } from '../src/adapters/postgres/migrate.ts';
import { TRANSACTION_MIGRATIONS } from '../src/adapters/postgres/migrations/transactions.ts';
import { VENUE_MIGRATIONS } from '../src/adapters/postgres/migrations/venue.ts';
import { connectDatabase, type Database } from '../src/adapters/postgres/pool.ts';
import { seedPeople, seedTrades } from './trade-seed.ts';
import { createVenueStore } from '../src/adapters/postgres/venue/venue-store.ts';
import { ETHER, type Chain } from '../src/domain/chain.ts';
import type { VenueStore } from '../src/ports/stores/venue-store.ts';
import { silentLog } from '../test/support/silent.ts';

/** The days over which the trades are spread. */
export const SEEDED_DAYS = 180;

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
export const SEEDED_CHAINS = [chain(1, 'one'), chain(2, 'two'), chain(3, 'three')];

export interface Seeded {
  db: Database;
  store: VenueStore;
  stop(): Promise<void>;
}

/** Opens at least so many trades of workspace w1, in database and schema `venue`. */
export async function openSeeded(folder: string, rows: number): Promise<Seeded> {
  const dataDir = resolve(folder);
  await mkdir(dataDir, { recursive: true });
  const server = await startEmbeddedPostgres({
    dataDir,
    log: silentLog,
    settings: { synchronous_commit: 'off', max_wal_size: '4GB' },
  });
  const db = connectDatabase({ url: await server.database('venue'), schema: 'venue', log: silentLog });
  await migrate(db, [...VENUE_MIGRATIONS, ...TRANSACTION_MIGRATIONS]);
  const store = createVenueStore(db);
  await store.putWorkspace({
    id: 'w1',
    name: 'Bench',
    platformFeeBps: 2,
    eligibleSolvers: null,
    limits: { openQuotes: null, openNotionalUsd: null },
    travelRuleThresholdUsd: null,
  });
  const { lps, members } = await seedPeople(db, 'w1');
  const [{ n: have } = { n: 0 }] = await db.query<{ n: number }>('select count(*) as n from trade');
  if (have < rows) {
    const startedMs = Date.now();
    await seedTrades(
      db,
      {
        book: { workspaceId: 'w1', mode: 'test' },
        rows: rows - have,
        seed: have + 1,
        chains: SEEDED_CHAINS,
        lps,
        members,
        untilMs: Date.now(),
        days: SEEDED_DAYS,
        usd: { USD: 1, ETH: 2_500 },
      },
      (done) => {
        if (done % 50_000 === 0)
          console.error(`${done} trades after ${Math.round((Date.now() - startedMs) / 1000)} s`);
      },
    );
  }
  // As autovacuum would have left it: a migration or a fill of minutes ago has not been cleaned up after yet.
  await db.query('vacuum analyze');
  return {
    db,
    store,
    async stop() {
      await db.close();
      await server.stop();
    },
  };
}
