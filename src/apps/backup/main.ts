/** `firmquote backup` and `firmquote restore`: a venue's or an LP's database as one file. */

import { type BackupFacts, backUp, restoreBackup } from '../../adapters/postgres/backup.ts';
import { checkSchema } from '../../adapters/postgres/migrate.ts';
import type { Log } from '../../ports/log.ts';
import type { LpConfig } from '../../lp/config/config.ts';
import type { SecretContext } from '../wiring/keys.ts';
import type { LpAppConfig } from '../lp/config.ts';
import { withChain } from '../wiring/networks.ts';
import { type SubjectOptions, withSubject } from '../audit/subject.ts';
import { markLpRestored, markVenueRestored } from './after-restore.ts';

export async function runBackup(file: string, options: SubjectOptions): Promise<void> {
  await withSubject('backup', options, async ({ db, tables }) => {
    await checkSchema(db, tables);
    const facts = await backUp(db, file, Date.now());
    console.log(
      `${countOf(facts)} rows of "${facts.schema}" were written to ${file}. Protect it like the database itself.`,
    );
  });
}

export async function runRestore(file: string, options: SubjectOptions): Promise<void> {
  await withSubject('backup', options, async ({ db, tables, lp, ...tools }) => {
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

/** Seconds from a signature until it can no longer be executed. */
function longestQuoteSeconds({ lp: { quoting, lease } }: { lp: LpConfig }): number {
  return (
    Math.max(quoting.maxValiditySeconds, quoting.validitySeconds, ...quoting.pointsSeconds) +
    quoting.maxLandingMarginSeconds +
    quoting.clockSkewSeconds +
    lease.aheadSeconds
  );
}

/** Reads the latest time on any chain. The LP is down, so it signed nothing after it. */
async function latestTime(
  { networks }: LpAppConfig,
  tools: { log: Log; secrets: SecretContext },
): Promise<number> {
  const times = await Promise.all(
    networks.map((network) => withChain(network, tools, async (chain) => chain.head()?.timestamp ?? 0)),
  );
  return Math.max(Math.ceil(Date.now() / 1_000), ...times);
}
