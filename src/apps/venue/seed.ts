/** Adds the configuration's workspaces and solvers to a database that lacks them. */

import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../../ports/log.ts';
import type { Workspace } from '../../ports/stores/store.ts';
import type { VenueStore } from '../../ports/stores/venue-store.ts';
import type { VenueConfig } from './config.ts';

export async function seed(
  store: VenueStore,
  { workspaces, solvers }: Pick<VenueConfig, 'workspaces' | 'solvers'>,
  log: Log,
): Promise<void> {
  for (const {
    id,
    name,
    platformFeeBps,
    eligibleSolvers,
    openQuotes,
    openNotionalUsd,
    travelRuleThresholdUsd,
  } of workspaces) {
    const wanted: Workspace = {
      id,
      name,
      platformFeeBps,
      eligibleSolvers,
      limits: { openQuotes, openNotionalUsd },
      travelRuleThresholdUsd,
    };
    const kept = await store.workspace(id);
    if (!kept) await store.putWorkspace(wanted);
    else if (!isDeepStrictEqual(kept, wanted))
      log.warn(
        { workspace: id },
        'the configuration says otherwise about this workspace than the database, which counts: change it with `firmquote workspace set`',
      );
  }
  const onboarded = new Map((await store.listSolvers()).map((solver) => [solver.id, solver]));
  for (const wanted of solvers) {
    const kept = onboarded.get(wanted.id);
    if (!kept) await store.putSolver(wanted);
    else if (
      !isDeepStrictEqual(
        { id: kept.id, name: kept.name, kind: kept.kind, corridors: kept.corridors, disabled: kept.disabled },
        wanted,
      )
    )
      log.warn(
        { solver: wanted.id },
        'the configuration says otherwise about this solver than the database, which counts: change it with `firmquote solver set`',
      );
  }
}
