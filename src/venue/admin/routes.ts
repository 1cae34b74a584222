/** The admin API: the operations of the command line, each change audited under the admin key's name. */

import { z } from 'zod';
import type { ApiCaller, Route } from '../../ports/http.ts';
import {
  type MemberChange,
  type NewKeyRequest,
  type NewMember,
  type NewSolver,
  type NewWorkspace,
  type SolverChange,
  type WorkspaceChange,
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
/** Query values arrive as text. */
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

type AdminRoute<Body = unknown, Query = unknown, Params = unknown> = Route<Body, Query, Params, ApiCaller>;
type At<S extends z.ZodType> = z.infer<S>;

export function venueAdminRoutes(admin: Admin): AdminRoute[] {
  const reading = { method: 'GET', keyKinds: ['admin'], rate: 'read' } as const;
  const writing = { method: 'POST', keyKinds: ['admin'], rate: 'submit' } as const;
  const changing = { ...writing, method: 'PATCH' } as const;
  const ending = { ...writing, method: 'DELETE' } as const;
  /** The actor in the audit log, beside `cli:…`. */
  const who = ({ id }: ApiCaller): string => `admin:${id}`;

  const workspaces: AdminRoute<never, never, At<typeof zWorkspacePath>>[] = [
    {
      ...reading,
      path: `${BASE}/workspaces`,
      tag: 'workspaces',
      summary: 'Every workspace',
      response: z.object({ workspaces: z.array(zWorkspace) }),
      handle: async () => ({ workspaces: await admin.workspaces.list() }),
    },
    {
      ...reading,
      path: `${BASE}/workspaces/:workspace`,
      tag: 'workspaces',
      summary: 'One workspace',
      params: zWorkspacePath,
      response: zWorkspace,
      handle: ({ params }) => admin.workspaces.show(params.workspace),
    },
  ];
  const addWorkspace: AdminRoute<NewWorkspace> = {
    ...writing,
    path: `${BASE}/workspaces`,
    tag: 'workspaces',
    summary: 'Add a workspace',
    body: zNewWorkspace,
    response: zWorkspace,
    handle: ({ key, body }) => admin.workspaces.add(who(key), body),
  };
  const setWorkspace: AdminRoute<WorkspaceChange, unknown, At<typeof zWorkspacePath>> = {
    ...changing,
    path: `${BASE}/workspaces/:workspace`,
    tag: 'workspaces',
    summary: 'Change a workspace; what is absent stays',
    params: zWorkspacePath,
    body: zWorkspaceChange,
    response: zWorkspace,
    handle: ({ key, params, body }) => admin.workspaces.set(who(key), params.workspace, body),
  };

  const listMembers: AdminRoute<unknown, At<typeof zMembersQuery>, At<typeof zWorkspacePath>> = {
    ...reading,
    path: `${BASE}/workspaces/:workspace/members`,
    tag: 'members',
    summary: 'Members of a workspace; those who left with ?removed=true',
    params: zWorkspacePath,
    query: zMembersQuery,
    response: z.object({ members: z.array(zMember) }),
    handle: async ({ params, query }) => ({
      members: await admin.members.list(params.workspace, { removed: query.removed ?? false }),
    }),
  };
  const addMember: AdminRoute<NewMember, unknown, At<typeof zWorkspacePath>> = {
    ...writing,
    path: `${BASE}/workspaces/:workspace/members`,
    tag: 'members',
    summary: 'Add a member',
    params: zWorkspacePath,
    body: zNewMember,
    response: zMember,
    handle: ({ key, params, body }) => admin.members.add(who(key), params.workspace, body),
  };
  const setMember: AdminRoute<MemberChange, unknown, At<typeof zMemberPath>> = {
    ...changing,
    path: `${BASE}/workspaces/:workspace/members/:member`,
    tag: 'members',
    summary: 'Change a member; a lower role lowers their keys',
    params: zMemberPath,
    body: zMemberChange,
    response: zMember,
    handle: ({ key, params, body }) => admin.members.set(who(key), params.workspace, params.member, body),
  };
  const removeMember: AdminRoute<unknown, unknown, At<typeof zMemberPath>> = {
    ...ending,
    path: `${BASE}/workspaces/:workspace/members/:member`,
    tag: 'members',
    summary: 'Remove a member and revoke their keys',
    params: zMemberPath,
    response: zMember,
    handle: ({ key, params }) => admin.members.remove(who(key), params.workspace, params.member),
  };

  const listKeys: AdminRoute<unknown, At<typeof zKeysQuery>> = {
    ...reading,
    path: `${BASE}/keys`,
    tag: 'keys',
    summary: 'Keys, without their text',
    query: zKeysQuery,
    response: z.object({ keys: z.array(zKey) }),
    handle: async ({ query }) => ({
      keys: await admin.keys.list({ workspaceId: query.workspace, solverId: query.solver, live: query.live }),
    }),
  };
  const issueKey: AdminRoute<NewKeyRequest> = {
    ...writing,
    path: `${BASE}/keys`,
    tag: 'keys',
    summary: 'Issue a key; its text is shown this once',
    body: zNewKeyRequest,
    response: zIssuedKey,
    handle: ({ key, body }) => admin.keys.issue(who(key), body),
  };
  const revokeKey: AdminRoute<unknown, unknown, At<typeof zKeyPath>> = {
    ...ending,
    path: `${BASE}/keys/:key`,
    tag: 'keys',
    summary: 'Revoke a key, at once and everywhere',
    params: zKeyPath,
    response: zKey,
    handle: ({ key, params }) => admin.keys.revoke(who(key), params.key),
  };

  const listSolvers: AdminRoute = {
    ...reading,
    path: `${BASE}/solvers`,
    tag: 'solvers',
    summary: 'Onboarded solvers',
    response: z.object({ solvers: z.array(zOnboarded) }),
    handle: async () => ({ solvers: await admin.solvers.list() }),
  };
  const addSolver: AdminRoute<NewSolver> = {
    ...writing,
    path: `${BASE}/solvers`,
    tag: 'solvers',
    summary: 'Onboard a solver',
    body: zNewSolver,
    response: zOnboarded,
    handle: ({ key, body }) => admin.solvers.add(who(key), body),
  };
  const setSolver: AdminRoute<SolverChange, unknown, At<typeof zSolverPath>> = {
    ...changing,
    path: `${BASE}/solvers/:solver`,
    tag: 'solvers',
    summary: 'Change or disable a solver',
    params: zSolverPath,
    body: zSolverChange,
    response: zOnboarded,
    handle: ({ key, params, body }) => admin.solvers.set(who(key), params.solver, body),
  };

  const changes: AdminRoute<unknown, At<typeof zChangesQuery>> = {
    ...reading,
    path: `${BASE}/audit`,
    tag: 'audit',
    summary: 'Who changed what and when, newest first',
    query: zChangesQuery,
    response: z.object({ changes: z.array(zChange) }),
    handle: async ({ query }) => ({
      changes: await admin.changes({
        limit: query.limit ?? 100,
        ...(query.workspace === undefined ? {} : { workspaceId: query.workspace }),
      }),
    }),
  };

  return [
    ...workspaces,
    addWorkspace,
    setWorkspace,
    listMembers,
    addMember,
    setMember,
    removeMember,
    listKeys,
    issueKey,
    revokeKey,
    listSolvers,
    addSolver,
    setSolver,
    changes,
  ] as unknown as AdminRoute[];
}
