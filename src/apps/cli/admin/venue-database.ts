/** Opens a venue's database, even before a venue has run on it. */

import { migrate } from '../../../adapters/postgres/migrate.ts';
import type { Database } from '../../../adapters/postgres/pool.ts';
import { createVenueStore } from '../../../adapters/postgres/venue/venue-store.ts';
import type { Log } from '../../../ports/log.ts';
import type { VenueStore } from '../../../ports/stores/venue-store.ts';
import { loadConfig } from '../../config/load.ts';
import { withToolDatabase } from '../../wiring/database.ts';
import type { SecretContext } from '../../wiring/keys.ts';
import { toolContext } from '../../wiring/process.ts';
import { type VenueConfig, zVenueConfig } from '../../venue/config.ts';
import { VENUE_SCHEMA, VENUE_TABLES } from '../../venue/schema.ts';
import { seed } from '../../venue/seed.ts';

interface VenueDatabase {
  db: Database;
  venue: VenueStore;
  config: VenueConfig;
  log: Log;
  secrets: SecretContext;
}

export async function withVenueDatabase(
  file: string,
  work: (opened: VenueDatabase) => Promise<void>,
): Promise<void> {
  const { config } = await loadConfig(zVenueConfig, file, process.env);
  const { log, secrets } = toolContext('cli', config);
  const tools = { schema: VENUE_SCHEMA, maxConnections: 4, log, secrets };
  await withToolDatabase(config.database, tools, async (db) => {
    await migrate(db, VENUE_TABLES);
    const venue = createVenueStore(db);
    await seed(venue, config, log);
    await work({ db, venue, config, log, secrets });
  });
}
