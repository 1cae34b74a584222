/** The admin API, audited under the name of the admin key. */

import * as z from 'zod';
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
} from '../../protocol/admin/admin.ts';
import { zExplained } from '../../protocol/schema.ts';
import type { Admin } from './admin.ts';
import { adminRoute as route, type AdminRoute } from './route.ts';

const zText = z.string().min(1).max(64);
const zWorkspaceId = zText.describe('Id of the workspace.');
const zWorkspacePath = z.strictObject({ workspace: zWorkspaceId });
const zMemberPath = z.strictObject({ workspace: zWorkspaceId, member: zText.describe('Id of the member.') });
const zKeyPath = z.strictObject({ key: zText.describe('Id of the key.') });
const zSolverPath = z.strictObject({ solver: zText.describe('Roster id of the solver.') });
const flag = (what: string) =>
  zExplained(what, { true: 'yes', false: 'no' })
    .transform((text) => text === 'true')
    .optional();
const zMembersQuery = z.strictObject({ removed: flag('Whether to list those who left too. Absent: no.') });
const zKeysQuery = z.strictObject({
  workspace: zText.optional().describe('Only keys of this workspace.'),
  solver: zText.optional().describe('Only keys of this solver.'),
  live: flag('Whether to leave revoked keys out. Absent: no.'),
});
const zChangesQuery = z.strictObject({
  workspace: zText.optional().describe('Only changes of this workspace.'),
  limit: z
    .string()
    .regex(/^[0-9]{1,4}$/, 'must be a whole number')
    .transform((text) => Math.min(1_000, Math.max(1, Number(text))))
    .meta({ type: 'integer' })
    .optional()
    .describe('Most entries in the answer: 1 to 1000, clamped. Absent: 100.'),
});

const zWorkspaces = z
  .object({ workspaces: z.array(zWorkspace).describe('All of them.') })
  .meta({ id: 'Workspaces', description: 'Every workspace.' });
const zMembers = z
  .object({ members: z.array(zMember).describe('Those that match.') })
  .meta({ id: 'Members', description: 'Members of a workspace.' });
const zKeys = z
  .object({ keys: z.array(zKey).describe('Those that match.') })
  .meta({ id: 'ApiKeys', description: 'Keys, without their text.' });
const zOnboardedSolvers = z
  .object({ solvers: z.array(zOnboarded).describe('All of them.') })
  .meta({ id: 'OnboardedSolvers', description: 'Every onboarded solver.' });
const zChanges = z
  .object({ changes: z.array(zChange).describe('Newest first.') })
  .meta({ id: 'AuditLog', description: 'Who changed what and when.' });

export function venueAdminRoutes({ workspaces, members, keys, solvers, changes }: Admin): AdminRoute[] {
  return [
    route('GET', '/workspaces', 'Every workspace', { response: zWorkspaces }, async () => ({
      workspaces: await workspaces.list(),
    })),
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
      { params: zWorkspacePath, query: zMembersQuery, response: zMembers },
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
      { query: zKeysQuery, response: zKeys },
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
    route('GET', '/solvers', 'Onboarded solvers', { response: zOnboardedSolvers }, async () => ({
      solvers: await solvers.list(),
    })),
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
      { query: zChangesQuery, response: zChanges },
      async ({ query: { limit = 100, workspace } }) => ({
        changes: await changes({ limit, ...(workspace !== undefined && { workspaceId: workspace }) }),
      }),
    ),
  ];
}
