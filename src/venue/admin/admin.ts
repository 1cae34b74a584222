/**
 * All operations of an administrator, for the admin API and the command line.
 *
 * Read first in this folder; then workspaces, members, keys, solvers (the operations), change (how they are
 * audited), routes and gate (the admin API).
 */

import type { AdminStore } from '../../ports/stores/admin-store.ts';
import type { ChangeView } from '../../protocol/api/admin.ts';
import type { AdminDeps } from './change.ts';
import { createKeyAdmin, type KeyAdmin } from './keys.ts';
import { createMemberAdmin, type MemberAdmin } from './members.ts';
import { createSolverAdmin, type SolverAdmin } from './solvers.ts';
import { changeView } from './views.ts';
import { createWorkspaceAdmin, type WorkspaceAdmin } from './workspaces.ts';

export interface Admin {
  workspaces: WorkspaceAdmin;
  members: MemberAdmin;
  keys: KeyAdmin;
  solvers: SolverAdmin;
  /** Audit entries, newest first. */
  changes(filter: Parameters<AdminStore['changes']>[0]): Promise<ChangeView[]>;
}

export function createAdmin(deps: AdminDeps): Admin {
  return {
    workspaces: createWorkspaceAdmin(deps),
    members: createMemberAdmin(deps),
    keys: createKeyAdmin(deps),
    solvers: createSolverAdmin(deps),
    changes: async (filter) => (await deps.store.changes(filter)).map(changeView),
  };
}
