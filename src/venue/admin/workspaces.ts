/** Workspaces: added and changed. Quotes follow a change from the next request on. */

import type { AdminTx } from '../../ports/stores/admin-store.ts';
import type { Workspace } from '../../ports/stores/store.ts';
import type { NewWorkspace, WorkspaceChange, WorkspaceView } from '../../protocol/admin/admin.ts';
import { invalid } from '../../protocol/errors.ts';
import { WORKSPACES_TOPIC } from '../access/workspaces.ts';
import { type AdminDeps, conflict, knownWorkspace, missing, recorder } from './change.ts';
import { workspaceView } from './views.ts';

export interface WorkspaceAdmin {
  list(): Promise<WorkspaceView[]>;
  /** Throws 404. */
  show(id: string): Promise<WorkspaceView>;
  /** Throws 409 when it exists, 422 for a fee that an escrow refuses or an unknown solver. */
  add(who: string, wanted: NewWorkspace): Promise<WorkspaceView>;
  /** Absent fields stay. Throws 404, 422. */
  set(who: string, id: string, change: WorkspaceChange): Promise<WorkspaceView>;
}

export function createWorkspaceAdmin({ store, venue, clock, feeCaps }: AdminDeps): WorkspaceAdmin {
  /** Runs outside the transaction, because a slow node must not hold a row lock. */
  async function requireFee(bps: number | undefined) {
    if (!bps) return;
    for (const { slug, maxFeeBps } of await feeCaps()) {
      if (bps > maxFeeBps)
        throw invalid(
          'value_error',
          ['body', 'platformFeeBps'],
          `The escrow on ${slug} takes at most ${maxFeeBps} basis points: no order with more could ever settle there.`,
        );
    }
  }

  async function requireSolvers(tx: AdminTx, ids: readonly string[] | null | undefined) {
    for (const [index, id] of (ids ?? []).entries()) {
      if (!(await tx.solver(id)))
        throw invalid('value_error', ['body', 'eligibleSolvers', index], `No solver "${id}" is onboarded.`);
    }
  }

  const changed = (
    before: Workspace,
    { name, platformFeeBps, eligibleSolvers, limits, travelRuleThresholdUsd }: WorkspaceChange,
  ): Workspace => ({
    id: before.id,
    name: name ?? before.name,
    platformFeeBps: platformFeeBps ?? before.platformFeeBps,
    eligibleSolvers:
      eligibleSolvers === undefined
        ? before.eligibleSolvers
        : eligibleSolvers && [...new Set(eligibleSolvers)],
    limits: {
      openQuotes: limits?.openQuotes === undefined ? before.limits.openQuotes : limits.openQuotes,
      openNotionalUsd:
        limits?.openNotionalUsd === undefined ? before.limits.openNotionalUsd : limits.openNotionalUsd,
    },
    travelRuleThresholdUsd:
      travelRuleThresholdUsd === undefined ? before.travelRuleThresholdUsd : travelRuleThresholdUsd,
  });

  return {
    list: async () => (await venue.listWorkspaces()).map(workspaceView),
    async show(id) {
      const workspace = await venue.workspace(id);
      if (!workspace) throw missing('workspace', id);
      return workspaceView(workspace);
    },
    async add(who, { id, ...wanted }) {
      await requireFee(wanted.platformFeeBps);
      return store.change(async (tx) => {
        if (await tx.workspace(id)) throw conflict(`There is a workspace "${id}" already.`);
        await requireSolvers(tx, wanted.eligibleSolvers);
        const workspace = changed(
          {
            id,
            name: wanted.name,
            platformFeeBps: 0,
            eligibleSolvers: null,
            limits: { openQuotes: null, openNotionalUsd: null },
            travelRuleThresholdUsd: null,
          },
          wanted,
        );
        const after = workspaceView(workspace);
        await tx.putWorkspace(workspace);
        await recorder(tx, who, clock).record('workspace.add', id, id, null, after);
        await tx.announce(WORKSPACES_TOPIC, id);
        return after;
      });
    },
    async set(who, id, change) {
      await requireFee(change.platformFeeBps);
      return store.change(async (tx) => {
        const before = await knownWorkspace(tx, id);
        await requireSolvers(tx, change.eligibleSolvers);
        const workspace = changed(before, change);
        const after = workspaceView(workspace);
        await tx.putWorkspace(workspace);
        await recorder(tx, who, clock).record('workspace.set', id, id, workspaceView(before), after);
        await tx.announce(WORKSPACES_TOPIC, id);
        return after;
      });
    },
  };
}
