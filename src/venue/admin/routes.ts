/** The admin API, audited under the name of the admin key. */

import { z } from 'zod';
import type { ApiCaller, Route } from '../../ports/http.ts';
import {
  zChange,
  zIssuedKey,
  zKey,
  zMember,
  zMemberChange,
  zNewKeyRequest,
  zNewMember,
  zNewSolver,
  zNewWorkspace,
  zOnboarded,
  zSolverChange,
  zWorkspace,
  zWorkspaceChange,
} from '../../protocol/api/admin.ts';
import type { Admin } from './admin.ts';

const BASE = '/admin/v1';

const zText = z.string().min(1).max(64);
const zWorkspacePath = z.strictObject({ workspace: zText });
const zMemberPath = z.strictObject({ workspace: zText, member: zText });
const zKeyPath = z.strictObject({ key: zText });
const zSolverPath = z.strictObject({ solver: zText });
const zFlag = z.enum(['true', 'false']).transform((text) => text === 'true');
const zMembersQuery = z.strictObject({ removed: zFlag.optional() });
const zKeysQuery = z.strictObject({
  workspace: zText.optional(),
  solver: zText.optional(),
  live: zFlag.optional(),
});
const zChangesQuery = z.strictObject({
  workspace: zText.optional(),
  limit: z
    .string()
    .regex(/^[0-9]{1,4}$/, 'must be a whole number')
    .transform((text) => Math.min(1_000, Math.max(1, Number(text))))
    .optional(),
});

type AdminRoute = Route<unknown, unknown, unknown, ApiCaller>;

function route<Body, Query, Params>(
  method: Route['method'],
  path: string,
  summary: string,
  schemas: Pick<Route<Body, Query, Params>, 'body' | 'query' | 'params' | 'response'>,
  handle: (request: { who: string; body: Body; query: Query; params: Params }) => Promise<object>,
): AdminRoute {
  const route: Route<Body, Query, Params, ApiCaller> = {
    method,
    path: `${BASE}${path}`,
    keyKinds: ['admin'],
    rate: method === 'GET' ? 'read' : 'submit',
    tag: path.includes('/members') ? 'members' : (path.split('/')[1] ?? ''),
    summary,
    ...schemas,
    handle: ({ key, body, query, params }) => handle({ who: `admin:${key.id}`, body, query, params }),
  };
  return route as unknown as AdminRoute;
}

export function venueAdminRoutes({ workspaces, members, keys, solvers, changes }: Admin): AdminRoute[] {
  return [
    route(
      'GET',
      '/workspaces',
      'Every workspace',
      { response: z.object({ workspaces: z.array(zWorkspace) }) },
      async () => ({ workspaces: await workspaces.list() }),
    ),
    route(
      'GET',
      '/workspaces/:workspace',
      'One workspace',
      { params: zWorkspacePath, response: zWorkspace },
      ({ params }) => workspaces.show(params.workspace),
    ),
    route(
      'POST',
      '/workspaces',
      'Add a workspace',
      { body: zNewWorkspace, response: zWorkspace },
      ({ who, body }) => workspaces.add(who, body),
    ),
    route(
      'PATCH',
      '/workspaces/:workspace',
      'Change a workspace; what is absent stays',
      { params: zWorkspacePath, body: zWorkspaceChange, response: zWorkspace },
      ({ who, params, body }) => workspaces.set(who, params.workspace, body),
    ),
    route(
      'GET',
      '/workspaces/:workspace/members',
      'Members of a workspace; those who left with ?removed=true',
      { params: zWorkspacePath, query: zMembersQuery, response: z.object({ members: z.array(zMember) }) },
      async ({ params, query }) => ({
        members: await members.list(params.workspace, { removed: query.removed ?? false }),
      }),
    ),
    route(
      'POST',
      '/workspaces/:workspace/members',
      'Add a member',
      { params: zWorkspacePath, body: zNewMember, response: zMember },
      ({ who, params, body }) => members.add(who, params.workspace, body),
    ),
    route(
      'PATCH',
      '/workspaces/:workspace/members/:member',
      'Change a member; a lower role lowers their keys',
      { params: zMemberPath, body: zMemberChange, response: zMember },
      ({ who, params, body }) => members.set(who, params.workspace, params.member, body),
    ),
    route(
      'DELETE',
      '/workspaces/:workspace/members/:member',
      'Remove a member and revoke their keys',
      { params: zMemberPath, response: zMember },
      ({ who, params }) => members.remove(who, params.workspace, params.member),
    ),
    route(
      'GET',
      '/keys',
      'Keys, without their text',
      { query: zKeysQuery, response: z.object({ keys: z.array(zKey) }) },
      async ({ query: { workspace, solver, live } }) => ({
        keys: await keys.list({ workspaceId: workspace, solverId: solver, live }),
      }),
    ),
    route(
      'POST',
      '/keys',
      'Issue a key; its text is shown this once',
      { body: zNewKeyRequest, response: zIssuedKey },
      ({ who, body }) => keys.issue(who, body),
    ),
    route(
      'DELETE',
      '/keys/:key',
      'Revoke a key, at once and everywhere',
      { params: zKeyPath, response: zKey },
      ({ who, params }) => keys.revoke(who, params.key),
    ),
    route(
      'GET',
      '/solvers',
      'Onboarded solvers',
      { response: z.object({ solvers: z.array(zOnboarded) }) },
      async () => ({ solvers: await solvers.list() }),
    ),
    route(
      'POST',
      '/solvers',
      'Onboard a solver',
      { body: zNewSolver, response: zOnboarded },
      ({ who, body }) => solvers.add(who, body),
    ),
    route(
      'PATCH',
      '/solvers/:solver',
      'Change or disable a solver',
      { params: zSolverPath, body: zSolverChange, response: zOnboarded },
      ({ who, params, body }) => solvers.set(who, params.solver, body),
    ),
    route(
      'GET',
      '/audit',
      'Who changed what and when, newest first',
      { query: zChangesQuery, response: z.object({ changes: z.array(zChange) }) },
      async ({ query: { limit = 100, workspace } }) => ({
        changes: await changes({ limit, ...(workspace !== undefined && { workspaceId: workspace }) }),
      }),
    ),
  ];
}
