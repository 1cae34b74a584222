/** The database that a command works on: a venue's or an LP's. */

import type { Migration } from '../../adapters/postgres/migrate.ts';
import type { Database } from '../../adapters/postgres/pool.ts';
import type { Log } from '../../ports/log.ts';
import { badRequest } from '../wiring/bad-request.ts';
import { loadConfig } from '../config/load.ts';
import type { ChainSection } from '../config/parts.ts';
import { withToolDatabase } from '../wiring/database.ts';
import type { SecretContext } from '../wiring/keys.ts';
import { type LpAppConfig, zLpAppConfig } from '../lp/config.ts';
import { LP_SCHEMA, LP_TABLES } from '../lp/schema.ts';
import { toolContext } from '../wiring/process.ts';
import { zVenueConfig } from '../venue/config.ts';
import { VENUE_SCHEMA, VENUE_TABLES } from '../venue/schema.ts';

export interface SubjectOptions {
  venue?: string;
  lp?: string;
}

interface Subject {
  db: Database;
  tables: readonly Migration[];
  lp: LpAppConfig | undefined;
  chains: readonly ChainSection[];
  log: Log;
  secrets: SecretContext;
}

export async function withSubject<T>(
  app: string,
  { venue, lp: lpFile }: SubjectOptions,
  work: (subject: Subject) => Promise<T>,
): Promise<T> {
  if ((venue === undefined) === (lpFile === undefined))
    throw badRequest('Give one configuration: --venue FILE or --lp FILE. Attesters have no database.');
  if (venue !== undefined) {
    const { config } = await loadConfig(zVenueConfig, venue, process.env);
    const { database, chains } = config;
    const tools = toolContext(app, config);
    return withToolDatabase(database, { schema: VENUE_SCHEMA, ...tools }, (db) =>
      work({ db, tables: VENUE_TABLES, lp: undefined, chains, ...tools }),
    );
  }
  const { config } = await loadConfig(zLpAppConfig, lpFile as string, process.env);
  const tools = toolContext(app, config);
  return withToolDatabase(config.database, { schema: LP_SCHEMA, ...tools }, (db) =>
    work({ db, tables: LP_TABLES, lp: config, chains: config.networks, ...tools }),
  );
}
