/** …/workspaces/{id}/keys: for every workspace key to read, for those of owners and admins to change. */

import type { Route } from '../../ports/http.ts';
import {
  type NewWorkspaceKey,
  zIssuedWorkspaceKey,
  zNewWorkspaceKey,
  zRevokedWorkspaceKey,
  zWorkspaceKeyParams,
  zWorkspaceKeys,
  zWorkspaceKeysParams,
} from '../../protocol/admin/admin.ts';
import type { WorkspaceKeys } from '../admin/workspace-keys.ts';

const ALL = '/api/v1/workspaces/:id/keys';
const SHARED = { keyKinds: ['workspace'], load: 'read', tag: 'workspaces' } as const;

export function keysRoutes(keys: WorkspaceKeys) {
  const list: Route<unknown, unknown, { id: string }> = {
    ...SHARED,
    method: 'GET',
    path: ALL,
    rate: 'read',
    summary: "The workspace's valid keys of the key's mode, without their text",
    params: zWorkspaceKeysParams,
    response: zWorkspaceKeys,
    handle: ({ key, params }) => keys.list(key, params.id),
  };
  const issue: Route<NewWorkspaceKey, unknown, { id: string }> = {
    ...SHARED,
    method: 'POST',
    path: ALL,
    rate: 'submit',
    summary: 'Issue a key; its text is shown once. For owners and admins',
    params: zWorkspaceKeysParams,
    body: zNewWorkspaceKey,
    response: zIssuedWorkspaceKey,
    errors: ['conflict'],
    handle: ({ key, params, body }) => keys.issue(key, params.id, body),
  };
  const revoke: Route<unknown, unknown, { id: string; keyId: string }> = {
    ...SHARED,
    method: 'DELETE',
    path: `${ALL}/:keyId`,
    rate: 'submit',
    summary: 'Revoke a key, at once and everywhere. For owners and admins',
    params: zWorkspaceKeyParams,
    response: zRevokedWorkspaceKey,
    handle: ({ key, params }) => keys.revoke(key, params.id, params.keyId),
  };
  return [list, issue, revoke];
}
