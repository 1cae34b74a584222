/**
 * What must never happen, checked while everything runs and once more at rest: the faults' checker, the
 * audit, the logs.
 */

import { createChain, type EvmChain } from '../../src/adapters/evm/chain/chain.ts';
import type { Database } from '../../src/adapters/postgres/pool.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { auditLpNode, auditVenue, type AuditReport } from '../../src/apps/audit/audit.ts';
import { broken, sceneOf } from '../faults/support/checker.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';
import type { Ground } from './ground.ts';

const LOOKS = 3;
const BETWEEN_LOOKS_MS = 2_000;
/** An order may still be open for this long after it expired. */
const MARGIN_SECONDS = 60;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Of the running system: what is wrong in each of several checks, because an order may be in transit between
 * two compared places.
 */
export async function brokenNow(ground: Ground): Promise<string[]> {
  let standing: string[] | undefined;
  for (let look = 1; ; look++) {
    const found = await broken(
      { ...sceneOf(ground.world), outputs: [], secrets: [] },
      { ended: false, marginSeconds: MARGIN_SECONDS },
    );
    const before = standing;
    standing = before
      ? found.filter((problem) => before.some((other) => sameBut(other) === sameBut(problem)))
      : found;
    if (standing.length === 0 || look === LOOKS) return standing;
    await pause(BETWEEN_LOOKS_MS);
  }
}

/**
 * The same problem with the same order or token, even if the figures change; a difference of money must stay
 * the same.
 */
const sameBut = (problem: string): string => problem.replaceAll(/(?<![\w(-])\d+(?![\w)])/g, 'n');

/** Of the system at rest. */
export async function brokenForGood(
  ground: Ground,
): Promise<{ problems: string[]; compared: Record<string, number> }> {
  const { world } = ground;
  const scene = sceneOf(world);
  const problems = await broken(
    { ...scene, secrets: [...scene.secrets, ...ground.nodes.flat().map(({ url }) => url)] },
    { ended: true, marginSeconds: MARGIN_SECONDS },
  );
  const compared: Record<string, number> = {};
  const ports: EvmChain[] = [];
  try {
    for (const { chain, anvil } of world.devnet.chains) {
      const port = createChain(chain, {
        rpcUrls: [anvil.url],
        clock: systemClock,
        log: silentLog,
        metrics: silentMetrics,
        maxClockSkewMs: 1e12,
      });
      ports.push(port);
      await port.start();
    }
    const groundOf = (db: Database) => ({ db, chains: ports, startBlock: () => 0, sleep: pause });
    const options = { sinceMs: 0, patienceMs: 20_000 };
    const note = (whose: string, { differences, unasked, compared: of }: AuditReport) => {
      problems.push(
        ...differences.map(
          ({ kind, subject, expected, found }) =>
            `audit of ${whose}: ${kind}: ${subject}: should be ${expected}, is ${found}`,
        ),
      );
      problems.push(
        ...unasked.map(({ what, why }) => `audit of ${whose}: nobody answered about ${what}: ${why}`),
      );
      for (const [what, n] of Object.entries(of)) compared[what] = (compared[what] ?? 0) + n;
    };
    note('the venue', await auditVenue(groundOf(world.database), options));
    for (const { id, owner, database } of world.lps)
      note(`LP ${id}`, await auditLpNode(groundOf(database), { account: owner.address }, options));
  } finally {
    await Promise.all(ports.map((port) => port.close()));
  }
  return { problems, compared };
}

/**
 * A process that cannot start because a dependency does not answer exits with `retry: later`, and its
 * supervisor restarts it. A port taken while its process is dead is the harness's problem.
 */
export const couldNotStart = (line: string): boolean =>
  line.includes('"msg":"could not start"') &&
  (line.includes('"retry":"later"') || line.includes('EADDRINUSE'));

/** Log lines that no process may ever write. */
export function watchLogs({ parts }: Ground): () => string[] {
  const read = new Map<string, number>();
  return () =>
    parts.flatMap(({ name, output }) => {
      const text = output();
      const from = read.get(name) ?? 0;
      const end = text.lastIndexOf('\n') + 1;
      read.set(name, end);
      return text
        .slice(from, end)
        .split('\n')
        .filter(
          (line) =>
            /unhandled ?rejection|uncaught ?exception|"level":"fatal"|InvariantError|MaxListenersExceeded|heap out of memory/i.test(
              line,
            ) && !couldNotStart(line),
        )
        .map((line) => `log of ${name}: ${line.slice(0, 600)}`);
    });
}

/** Orders that have not ended. */
export async function openOrders({ world }: Ground): Promise<number> {
  const [row] = await world.database.query<{ n: number }>(
    'select count(*) as n from trade_order where not final',
  );
  return row?.n ?? 0;
}

/** What became of all orders. */
export async function endsOf({ world }: Ground): Promise<Record<string, number>> {
  const rows = await world.database.query<{ status: string; n: number }>(
    'select status, count(*) as n from trade_order group by status',
  );
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}
