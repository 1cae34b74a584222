/** `firmquote backup` and `firmquote restore`: a venue's or an LP's database as one file. */

import { type BackupFacts, backUp, restoreBackup } from '../../adapters/postgres/backup.ts';
import { checkSchema, type Migration } from '../../adapters/postgres/migrate.ts';
import type { Database } from '../../adapters/postgres/pool.ts';
import type { Log } from '../../ports/log.ts';
import type { LpConfig } from '../../lp/config/config.ts';
import { loadConfig } from '../config/load.ts';
import { type DatabaseSection, withToolDatabase } from '../database.ts';
import type { SecretContext } from '../keys.ts';
import { type LpAppConfig, zLpAppConfig } from '../lp/config.ts';
import { LP_SCHEMA, LP_TABLES } from '../lp/schema.ts';
import { withChain } from '../networks.ts';
import { toolContext } from '../process.ts';
import { zVenueConfig } from '../venue/config.ts';
import { VENUE_SCHEMA, VENUE_TABLES } from '../venue/schema.ts';
import { markLpRestored, markVenueRestored } from './after-restore.ts';
import { badRequest } from '../bad-request.ts';

export interface BackupOptions {
  venue?: string;
  lp?: string;
}

export async function runBackup(file: string, options: BackupOptions): Promise<void> {
  await withSubject(options, async ({ db, tables }) => {
    await checkSchema(db, tables);
    const facts = await backUp(db, file, Date.now());
    console.log(
      `${countOf(facts)} rows of "${facts.schema}" were written to ${file}. Protect it like the database itself.`,
    );
  });
}

export async function runRestore(file: string, options: BackupOptions): Promise<void> {
  await withSubject(options, async ({ db, tables, lp, ...tools }) => {
    const now = lp && (await latestTime(lp, tools));
    const facts = await restoreBackup(db, file, tables, (session) =>
      lp && now !== undefined
        ? markLpRestored(session, {
            chainIds: lp.networks.map(({ id }) => id),
            signedUpTo: now + longestQuoteSeconds(lp),
          })
        : markVenueRestored(session),
    );
    console.log(
      `${countOf(facts)} rows of "${facts.schema}" were restored as of ${new Date(facts.takenAtMs).toISOString()}.`,
    );
    if (lp)
      console.log(
        `The LP signs nothing for ${longestQuoteSeconds(lp)} s on every chain: by then every quote signed after the backup has expired.`,
      );
    console.log('Start the processes, then find what was lost with: firmquote audit');
  });
}

const countOf = ({ rows }: BackupFacts): number => Object.values(rows).reduce((sum, n) => sum + n, 0);

/** Longest time in seconds from a signature until it can no longer be executed. */
function longestQuoteSeconds({ lp: { quoting, lease } }: { lp: LpConfig }): number {
  return (
    Math.max(quoting.maxValiditySeconds, quoting.validitySeconds, ...quoting.pointsSeconds) +
    quoting.maxLandingMarginSeconds +
    quoting.clockSkewSeconds +
    lease.aheadSeconds
  );
}

async function latestTime(
  { networks }: LpAppConfig,
  tools: { log: Log; secrets: SecretContext },
): Promise<number> {
  const times = await Promise.all(
    networks.map((network) => withChain(network, tools, async (chain) => chain.head()?.timestamp ?? 0)),
  );
  return Math.max(Math.ceil(Date.now() / 1_000), ...times);
}

interface Subject {
  db: Database;
  tables: readonly Migration[];
  lp: LpAppConfig | undefined;
  log: Log;
  secrets: SecretContext;
}

async function withSubject(
  { venue, lp }: BackupOptions,
  work: (subject: Subject) => Promise<void>,
): Promise<void> {
  if ((venue === undefined) === (lp === undefined))
    throw badRequest('Give one configuration: --venue FILE or --lp FILE. Attesters have no database.');
  const { log, secrets } = toolContext('backup');
  const lpConfig = lp === undefined ? undefined : (await loadConfig(zLpAppConfig, lp, process.env)).config;
  const section: DatabaseSection =
    lpConfig?.database ?? (await loadConfig(zVenueConfig, venue as string, process.env)).config.database;
  const [schema, tables] = lpConfig ? [LP_SCHEMA, LP_TABLES] : [VENUE_SCHEMA, VENUE_TABLES];
  await withToolDatabase(section, { schema, log, secrets }, (db) =>
    work({ db, tables, lp: lpConfig, log, secrets }),
  );
}
