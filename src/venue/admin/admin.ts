/** All operations of an administrator, for the admin API and the command line. */

import type { AdminStore } from '../../ports/stores/admin-store.ts';
import type { ChangeView } from '../../protocol/admin/admin.ts';
import type { AdminDeps } from './change.ts';
import { createKeyAdmin, type KeyAdmin } from './keys.ts';
import { createMemberAdmin, type MemberAdmin } from './members.ts';
import { createSolverAdmin, type SolverAdmin } from './solvers.ts';
import { changeView } from './views.ts';
import { createWorkspaceAdmin, type WorkspaceAdmin } from './workspaces.ts';

/** `who` of each change is the operator's name, for the audit log. */
export interface Admin {
  workspaces: WorkspaceAdmin;
  members: MemberAdmin;
  keys: KeyAdmin;
  solvers: SolverAdmin;
  /** Lists who changed what, newest first. */
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
