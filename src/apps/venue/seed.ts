/** The configuration's workspaces and solvers, as the database shall have them. */

import type { VenueStore } from '../../ports/store.ts';
import type { VenueConfig } from './config.ts';

export async function seed(store: VenueStore, { workspaces, solvers }: Pick<VenueConfig, 'workspaces' | 'solvers'>): Promise<void> {
  for (const { id, name, platformFeeBps, eligibleSolvers, openQuotes, openNotionalUsd, travelRuleThresholdUsd } of workspaces) {
    await store.putWorkspace({ id, name, platformFeeBps, eligibleSolvers, limits: { openQuotes, openNotionalUsd }, travelRuleThresholdUsd });
  }
  for (const solver of solvers) await store.putSolver(solver);
}
