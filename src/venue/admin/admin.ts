/**
 * All operations of an administrator, for the admin API and the command line.
 *
 * Read first in this folder; then workspaces, members, keys, solvers (the operations), change (how they are
 * audited), routes and gate (the admin API).
 */

import type { AdminStore } from '../../ports/stores/admin-store.ts';
import type { ChangeView } from '../../protocol/api/admin.ts';
import type { AdminDeps } from './change.ts';
import { createKeyAdmin } from './keys.ts';
import { createMemberAdmin } from './members.ts';
import { createSolverAdmin } from './solvers.ts';
import { changeView } from './views.ts';
import { createWorkspaceAdmin } from './workspaces.ts';

export type Admin = ReturnType<typeof createAdmin>;

export function createAdmin(deps: AdminDeps) {
  return {
    workspaces: createWorkspaceAdmin(deps),
    members: createMemberAdmin(deps),
    keys: createKeyAdmin(deps),
    solvers: createSolverAdmin(deps),
    /** Audit entries, newest first. */
    changes: async (filter: Parameters<AdminStore['changes']>[0]): Promise<ChangeView[]> =>
      (await deps.store.changes(filter)).map(changeView),
  };
}
