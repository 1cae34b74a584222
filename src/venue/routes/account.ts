/** GET /key: whose key this is. */

import type { Route } from '../../ports/http.ts';
import { type KeyHolder, zKeyHolder } from '../../protocol/admin/admin.ts';
import type { Workspaces } from '../access/workspaces.ts';

export function keyRoute({ workspaces }: { workspaces: Workspaces }): Route {
  return {
    method: 'GET',
    path: '/api/v1/key',
    keyKinds: ['service', 'workspace'],
    rate: 'read',
    load: 'memory',
    tag: 'workspaces',
    summary: 'Whose key this is: its workspace with its fee, its role and its member',
    response: zKeyHolder,
    async handle({ key }): Promise<KeyHolder> {
      const { id, kind, mode, role, memberId } = key;
      const { id: workspaceId, name, platformFeeBps } = await workspaces.of(key);
      return { id, kind, mode, role, memberId, workspace: { id: workspaceId, name, platformFeeBps } };
    },
  };
}
