/** `firmquote audit`: compares a database with its ledger and the chains. Read-only. */

import { checkSchema } from '../../adapters/postgres/migrate.ts';
import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import { openAdminClient } from '../lp/admin-client.ts';
import { createToolChain } from '../wiring/networks.ts';
import { type SubjectOptions, withSubject } from './subject.ts';
import { type AuditGround, type AuditOptions, auditLpNode, auditVenue, type AuditReport } from './audit.ts';
import { inTokens, KINDS, type Unasked } from './difference.ts';
import type { LpView } from './lp.ts';

export interface AuditCommand extends SubjectOptions {
  days: number;
  patience: number;
  others?: boolean;
  json?: boolean;
}

/** Exit code 0: no difference; 1: differences; 2: some checks could not be made. */
export async function runAudit({
  days,
  patience,
  others = false,
  json,
  ...subject
}: AuditCommand): Promise<void> {
  const options: AuditOptions = {
    sinceMs: days === 0 ? 0 : Date.now() - days * 86_400_000,
    patienceMs: patience * 1_000,
    others,
  };
  const report = await withSubject(
    'audit',
    subject,
    async ({ db, tables, lp, chains: sections, ...tools }) => {
      const opened: { close(): Promise<void> }[] = [];
      const silent: Unasked[] = [];
      try {
        await checkSchema(db, tables);
        const chains: ChainPort[] = [];
        for (const section of sections) {
          const chain = createToolChain(section, tools);
          opened.push(chain);
          await chain.start().then(
            () => chains.push(chain),
            (error: unknown) =>
              silent.push({
                what: `everything on ${section.slug}`,
                why: error instanceof Error ? error.message : String(error),
              }),
          );
        }
        const ground: AuditGround = {
          db,
          chains,
          startBlock: (chainId) => sections.find(({ id }) => id === chainId)?.startBlock ?? 0,
          sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        };
        const account = lp?.lp.chains[0]?.account as Address;
        const committed = () => committedOf(subject.lp as string);
        const found = lp
          ? await auditLpNode(ground, { account, committed }, options)
          : await auditVenue(ground, options);
        return { ...found, unasked: [...silent, ...found.unasked] };
      } finally {
        await Promise.all(opened.map((chain) => chain.close()));
      }
    },
  );
  console.log(json ? JSON.stringify(asJson(report)) : page(report));
  process.exitCode = exitCode(report);
}

/** undefined when the LP is down: it has saved its reservations, or will derive them at the next start. */
async function committedOf(config: string): Promise<LpView['committed']> {
  const said = await openAdminClient({ config })
    .then(
      (door) => door.get('/inventory'),
      () => undefined,
    )
    .catch(() => undefined);
  return said?.buckets.map(({ chainId, token, committed }) => ({
    chainId,
    token,
    committed: BigInt(committed),
  }));
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
  looks: report.comparisons,
});

function page({ differences, unasked, compared, comparisons }: AuditReport): string {
  const found = differences.flatMap((difference) => {
    const { kind, subject } = difference;
    const { expected, found: is, by } = inTokens(difference);
    return [
      `NO  ${kind}  ${subject}`,
      `      expected   ${expected}`,
      `      found      ${is}${by === undefined ? '' : `   (${by.startsWith('-') ? '' : '+'}${by})`}`,
      `      meaning    ${KINDS[kind][0]}`,
      `      what to do ${KINDS[kind][1]}`,
    ];
  });
  const asked = unasked.map(({ what, why }) => `?   ${what}: ${why}`);
  const counts = Object.entries(compared)
    .map(([what, n]) => `${n} ${what}`)
    .join(', ');
  const verdict =
    differences.length > 0
      ? `${differences.length} difference${differences.length === 1 ? '' : 's'} found in all ${comparisons} comparisons.`
      : unasked.length > 0
        ? `No difference, but ${unasked.length} check${unasked.length === 1 ? '' : 's'} could not be made.`
        : 'No difference.';
  return [...found, ...asked, `Compared: ${counts}.`, verdict].join('\n');
}
