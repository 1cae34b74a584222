/** …/workspaces/{id}/members, for keys of the workspace's owners and admins. */

import type { Route } from '../../ports/http.ts';
import {
  type NewWorkspaceMember,
  type WorkspaceMemberChange,
  zNewWorkspaceMember,
  zWorkspaceMember,
  zWorkspaceMemberChange,
  zWorkspaceMemberParams,
  zWorkspaceMembers,
  zWorkspaceMembersParams,
} from '../../protocol/admin/admin.ts';
import type { WorkspaceMembers } from '../admin/workspace-members.ts';

const ALL = '/api/v1/workspaces/:id/members';
const ONE = `${ALL}/:memberId`;
const SHARED = { keyKinds: ['workspace'], load: 'read', tag: 'workspaces' } as const;

export function membersRoutes(members: WorkspaceMembers) {
  const list: Route<unknown, unknown, { id: string }> = {
    ...SHARED,
    method: 'GET',
    path: ALL,
    rate: 'read',
    summary: 'Members of the workspace. For owners and admins',
    params: zWorkspaceMembersParams,
    response: zWorkspaceMembers,
    handle: ({ key, params }) => members.list(key, params.id),
  };
  const add: Route<NewWorkspaceMember, unknown, { id: string }> = {
    ...SHARED,
    method: 'POST',
    path: ALL,
    rate: 'submit',
    summary: 'Add a member. For owners and admins',
    params: zWorkspaceMembersParams,
    body: zNewWorkspaceMember,
    response: zWorkspaceMember,
    errors: ['conflict'],
    handle: ({ key, params, body }) => members.add(key, params.id, body),
  };
  const set: Route<WorkspaceMemberChange, unknown, { id: string; memberId: string }> = {
    ...SHARED,
    method: 'PATCH',
    path: ONE,
    rate: 'submit',
    summary: 'Change the role of a member; a lower one lowers their keys. For owners and admins',
    params: zWorkspaceMemberParams,
    body: zWorkspaceMemberChange,
    response: zWorkspaceMember,
    errors: ['conflict'],
    handle: ({ key, params, body }) => members.set(key, params.id, params.memberId, body),
  };
  const remove: Route<unknown, unknown, { id: string; memberId: string }> = {
    ...SHARED,
    method: 'DELETE',
    path: ONE,
    rate: 'submit',
    summary: 'Remove a member and revoke their keys. For owners and admins',
    params: zWorkspaceMemberParams,
    response: zWorkspaceMember,
    errors: ['conflict'],
    handle: ({ key, params }) => members.remove(key, params.id, params.memberId),
  };
  return [list, add, set, remove];
}
