/** Repeats a comparison and reports only differences found every time. */

import type { Database } from '../../adapters/postgres/pool.ts';
import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import { withConsistentCut, type Cut } from './cut.ts';
import {
  type FindingsCollector,
  createFindings,
  type Difference,
  type Findings,
  identityOf,
} from './difference.ts';
import { auditEscrow } from './escrow.ts';
import { auditLp, type LpView } from './lp.ts';
import { auditOrders } from './orders.ts';
import { auditSlots, auditVenueTables } from './tables.ts';

export interface AuditGround {
  db: Database;
  chains: readonly ChainPort[];
  startBlock(chainId: number): number;
  sleep(ms: number): Promise<void>;
}

export interface AuditOptions {
  /** The audit checks orders from this time on one by one, Unix milliseconds, and older ones only in sums. */
  sinceMs: number;
  patienceMs: number;
  everyMs?: number;
  others?: boolean;
}

export interface AuditReport extends Findings {
  comparisons: number;
}

export const auditVenue = (ground: AuditGround, options: AuditOptions): Promise<AuditReport> =>
  compareUntilStable(ground, options, async (cut, findings) => {
    await auditVenueTables(cut, findings);
    await auditOrders(cut, findings, options);
    await auditSlots(cut, findings);
    for (const chain of cut.chains)
      await auditEscrow(cut, findings, chain, {
        startBlock: ground.startBlock(chain.port.chain.id),
        others: options.others ?? false,
      });
  });

export const auditLpNode = (
  ground: AuditGround,
  { account, committed }: { account: Address; committed?: () => Promise<LpView['committed']> },
  options: AuditOptions,
): Promise<AuditReport> =>
  compareUntilStable(ground, options, async (cut, findings) => {
    const said = await committed?.();
    await auditLp(cut, findings, { account, ...(said && { committed: said }) }, options);
    await auditSlots(cut, findings);
  });

async function compareUntilStable(
  { db, chains, sleep }: AuditGround,
  { patienceMs, everyMs = 2_000 }: AuditOptions,
  compare: (cut: Cut, findings: FindingsCollector) => Promise<void>,
): Promise<AuditReport> {
  let standing: Map<string, Difference> | undefined;
  for (let comparisons = 1, left = patienceMs; ; comparisons += 1, left -= everyMs) {
    const { differences, unasked, compared } = await compareOnce(db, chains, compare);
    const seen = new Map(differences.map((difference) => [identityOf(difference), difference]));
    const before = standing;
    standing = new Map([...seen].filter(([mark]) => before === undefined || before.has(mark)));
    if (standing.size === 0 || left <= 0)
      return { differences: [...standing.values()], unasked, compared, comparisons };
    await sleep(Math.min(everyMs, left));
  }
}

async function compareOnce(
  db: Database,
  chains: readonly ChainPort[],
  compare: (cut: Cut, findings: FindingsCollector) => Promise<void>,
): Promise<Findings> {
  const findings = createFindings();
  await withConsistentCut(db, chains, async (cut, silent) => {
    for (const slug of silent)
      findings.unasked.push({ what: `everything on ${slug}`, why: 'no node answered with a final block' });
    await compare(cut, findings);
  });
  return findings;
}
