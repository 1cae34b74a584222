/**
 * `firmquote audit`: compares a venue's or an LP's database with its accounting ledger and the chains.
 * Read-only.
 */

import { checkSchema, type Migration } from '../../adapters/postgres/migrate.ts';
import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import { openAdminClient } from '../cli/lp/admin-client.ts';
import { loadConfig } from '../config/load.ts';
import type { ChainSection } from '../config/parts.ts';
import { type DatabaseSection, withToolDatabase } from '../database.ts';
import { zLpAppConfig } from '../lp/config.ts';
import { LP_SCHEMA, LP_TABLES } from '../lp/schema.ts';
import { createToolChain } from '../networks.ts';
import { toolContext } from '../process.ts';
import { zVenueConfig } from '../venue/config.ts';
import { VENUE_SCHEMA, VENUE_TABLES } from '../venue/schema.ts';
import { type AuditGround, type AuditOptions, auditLpNode, auditVenue, type AuditReport } from './audit.ts';
import { KINDS, type Unasked } from './difference.ts';
import type { LpView } from './lp.ts';
import { badRequest } from '../bad-request.ts';

export interface AuditCommand {
  venue?: string;
  lp?: string;
  days: number;
  patience: number;
  others?: boolean;
  json?: boolean;
}

/** Exit code 0: no difference; 1: differences; 2: no difference, but some checks could not be made. */
export async function runAudit({
  venue,
  lp,
  days,
  patience,
  others = false,
  json,
}: AuditCommand): Promise<void> {
  if ((venue === undefined) === (lp === undefined))
    throw badRequest('Give one configuration: --venue FILE or --lp FILE.');
  const options: AuditOptions = {
    sinceMs: days === 0 ? 0 : Date.now() - days * 86_400_000,
    patienceMs: patience * 1_000,
    others,
  };
  const report = venue === undefined ? await ofLp(lp as string, options) : await ofVenue(venue, options);
  console.log(json ? JSON.stringify(asJson(report)) : page(report));
  process.exitCode = exitCode(report);
}

async function ofVenue(file: string, options: AuditOptions): Promise<AuditReport> {
  const { config } = await loadConfig(zVenueConfig, file, process.env);
  return withGround(
    config.database,
    { schema: VENUE_SCHEMA, tables: VENUE_TABLES, sections: config.chains },
    (ground) => auditVenue(ground, options),
  );
}

async function ofLp(file: string, options: AuditOptions): Promise<AuditReport> {
  const { config } = await loadConfig(zLpAppConfig, file, process.env);
  const account = config.lp.chains[0]?.account as Address;
  return withGround(
    config.database,
    { schema: LP_SCHEMA, tables: LP_TABLES, sections: config.networks },
    (ground) => auditLpNode(ground, { account, committed: () => committedOf(file) }, options),
  );
}

/** undefined when the LP is down: it has saved its reservations, or will derive them at the next start. */
async function committedOf(config: string): Promise<LpView['committed']> {
  const said = await openAdminClient({ config })
    .then(
      (door) => door.get<{ buckets: { chainId: number; token: Address; committed: string }[] }>('/inventory'),
      () => undefined,
    )
    .catch(() => undefined);
  return said?.buckets.map(({ chainId, token, committed }) => ({
    chainId,
    token,
    committed: BigInt(committed),
  }));
}

async function withGround(
  section: DatabaseSection,
  {
    schema,
    tables,
    sections,
  }: { schema: string; tables: readonly Migration[]; sections: readonly ChainSection[] },
  work: (ground: AuditGround) => Promise<AuditReport>,
): Promise<AuditReport> {
  const { log, secrets } = toolContext('audit');
  const opened: { close(): Promise<void> }[] = [];
  const silent: Unasked[] = [];
  return withToolDatabase(section, { schema, log, secrets }, async (db) => {
    try {
      await checkSchema(db, tables);
      const chains: ChainPort[] = [];
      for (const each of sections) {
        const chain = createToolChain(each, { log, secrets });
        opened.push(chain);
        await chain.start().then(
          () => chains.push(chain),
          (error: unknown) =>
            silent.push({
              what: `everything on ${each.slug}`,
              why: error instanceof Error ? error.message : String(error),
            }),
        );
      }
      const report = await work({
        db,
        chains,
        startBlock: (chainId) => sections.find(({ id }) => id === chainId)?.startBlock ?? 0,
        sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      });
      return { ...report, unasked: [...silent, ...report.unasked] };
    } finally {
      await Promise.all(opened.map((chain) => chain.close()));
    }
  });
}

const exitCode = ({ differences, unasked }: AuditReport): 0 | 1 | 2 =>
  differences.length > 0 ? 1 : unasked.length > 0 ? 2 : 0;

const asJson = (report: AuditReport) => ({
  status: exitCode(report),
  differences: report.differences.map((difference) => ({
    ...difference,
    means: KINDS[difference.kind][0],
    todo: KINDS[difference.kind][1],
  })),
  unasked: report.unasked,
  compared: report.compared,
  looks: report.looks,
});

function page({ differences, unasked, compared, looks }: AuditReport): string {
  const found = differences.flatMap(({ kind, subject, expected, found: is, by }) => [
    `NO  ${kind}  ${subject}`,
    `      expected   ${expected}`,
    `      found      ${is}${by === undefined ? '' : `   (${by})`}`,
    `      meaning    ${KINDS[kind][0]}`,
    `      what to do ${KINDS[kind][1]}`,
  ]);
  const asked = unasked.map(({ what, why }) => `?   ${what}: ${why}`);
  const counts = Object.entries(compared)
    .map(([what, n]) => `${n} ${what}`)
    .join(', ');
  const verdict =
    differences.length > 0
      ? `${differences.length} difference${differences.length === 1 ? '' : 's'} found in all ${looks} comparisons.`
      : unasked.length > 0
        ? `No difference, but ${unasked.length} check${unasked.length === 1 ? '' : 's'} could not be made.`
        : 'No difference.';
  return [...found, ...asked, `Compared: ${counts}.`, verdict].join('\n');
}
