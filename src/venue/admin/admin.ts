/** All operations of an administrator, for the admin API and the command line. */

import type { AdminStore } from '../../ports/stores/admin-store.ts';
import type { ChangeView } from '../../protocol/admin/admin.ts';
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
    changes: async (filter: Parameters<AdminStore['changes']>[0]): Promise<ChangeView[]> =>
      (await deps.store.changes(filter)).map(changeView),
  };
}
