/**
 * Measures what an ended order keeps on disk, by table with indexes, measured on made-up trades of every
 * kind.
 *
 *   npm run bench -- growth [--rows N]
 */

import { parseArgs } from 'node:util';
import { mkdtemp, rm, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../src/adapters/postgres/embedded/embedded.ts';
import { migrate } from '../src/adapters/postgres/migrate.ts';
import { connectDatabase } from '../src/adapters/postgres/pool.ts';
import { createLog } from '../src/adapters/pino/log.ts';
import { seedPeople, seedTrades } from './trade-seed.ts';
import { createVenueStore } from '../src/adapters/postgres/venue/venue-store.ts';
import { VENUE_SCHEMA, VENUE_TABLES } from '../src/apps/venue/schema.ts';
import { loadConfig } from '../src/apps/config/load.ts';
import { chainOf } from '../src/apps/wiring/networks.ts';
import { zVenueConfig } from '../src/apps/venue/config.ts';

const { values } = parseArgs({ options: { rows: { type: 'string', default: '20000' } } });
const rows = Number(values.rows);
const log = createLog({ app: 'bench', level: 'silent' });
const dataDir = await mkdtemp(join(tmpdir(), 'firmquote-growth-'));
await chmod(dataDir, 0o755);
const server = await startEmbeddedPostgres({ dataDir, log, settings: { fsync: 'off' } });
const db = connectDatabase({ url: await server.database('growth'), schema: VENUE_SCHEMA, log });
try {
  await migrate(db, VENUE_TABLES);
  const { config } = await loadConfig(zVenueConfig, 'config/venue.example.json', {});
  const chains = config.chains.map(chainOf);
  const mode = chains.some(({ sandbox }) => sandbox) ? 'test' : 'live';
  await createVenueStore(db).putWorkspace({
    id: 'seed',
    name: 'seed',
    platformFeeBps: 2,
    eligibleSolvers: null,
    limits: { openQuotes: null, openNotionalUsd: null },
    travelRuleThresholdUsd: null,
  });
  const people = await seedPeople(db, 'seed');
  await seedTrades(
    db,
    {
      book: { workspaceId: 'seed', mode },
      rows,
      seed: 1,
      chains: chains.filter(({ sandbox }) => sandbox === (mode === 'test')),
      ...people,
      untilMs: Date.now(),
      days: 30,
      usd: { USD: 1, ETH: 2_500 },
    },
    () => {},
  );
  const tables = await db.query<{ name: string; bytes: number }>(
    'select relname as name, pg_total_relation_size(c.oid) as bytes from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = $2 order by 2 desc',
    [VENUE_SCHEMA, 'r'],
  );
  const perOrder = Object.fromEntries(
    tables
      .map(({ name, bytes }) => [name, Math.round(bytes / rows)] as const)
      .filter(([, bytes]) => bytes > 0),
  );
  console.log(
    JSON.stringify({
      rows,
      bytesPerOrder: Object.values(perOrder).reduce((sum, bytes) => sum + bytes, 0),
      byTable: perOrder,
    }),
  );
} finally {
  await db.close();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}
