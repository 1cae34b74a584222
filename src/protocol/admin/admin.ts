/** Schemas of the admin API and the command line. */

import * as z from 'zod';
import { zExplained } from '../schema.ts';

const zRole = zExplained('What a member may see.', {
  owner: 'everything',
  admin: 'everything',
  member: 'trades, without who traded, compliance and fees',
  viewer: 'the same as a member',
}).meta({ id: 'Role' });
const zKyc = zExplained('Whether the identity of a member was checked.', {
  none: 'not begun',
  pending: 'under way',
  verified: 'checked',
  rejected: 'refused',
}).meta({ id: 'KycStatus' });
const zKeyKind = zExplained('What a key is for.', {
  service: 'quotes, orders, preflight, roster and pairs of its workspace',
  workspace: 'the trade history of its workspace',
  solver: 'the link of its solver',
}).meta({ id: 'KeyKind' });
const zMode = zExplained('Which trades a key meets.', {
  test: 'those of the sandbox',
  live: 'those of production',
}).meta({ id: 'KeyMode' });
const zSolverKind = zExplained('What it trades from.', {
  lp: 'a liquidity provider with inventory of its own',
  solver: 'a solver that finds the liquidity elsewhere',
}).meta({ id: 'OnboardedKind' });
const FIELDS = {
  workspaceId: 'Id of the workspace.',
  name: 'Name for people: one line.',
  fee: 'Platform fee in basis points of the input.',
  eligible: 'Roster ids of the solvers that it may trade with. null: all that are onboarded.',
  limits: 'Limits on live quotes of each of its keys.',
  travelRule: 'Notional in USD from which trades are reported under the Travel Rule. null: never.',
  corridors: 'What it may quote, as `<source>-<dest>` in chain slugs. null: every corridor.',
  disabled: 'Whether it is shut out.',
};

/** Safe in paths, logs and CSV without escaping. */
const zId = z
  .string()
  .regex(
    /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/,
    'must be 1 to 64 letters, digits, ".", "_" or "-", beginning with a letter or digit',
  );
/** One line, no control or right-to-left characters. */
const zName = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    // No \p: many readers of the API document compile its patterns without the flag that this needs.
    .regex(
      // oxlint-disable-next-line no-control-regex
      /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/,
      'must be one line without control characters',
    )
    .refine((text) => !/\p{Cs}/u.test(text), 'must be Unicode text')
    .refine((text) => text.trim() === text, 'must not begin or end with a space');
const zWhen = z.iso.datetime();
const zLimits = z.strictObject({
  openQuotes: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .describe("Most live, unsubmitted quotes of a key. null: the venue's default."),
  openNotionalUsd: z
    .number()
    .positive()
    .max(1e15)
    .nullable()
    .describe("Most notional of them in USD. null: the venue's default."),
});

export const zWorkspace = z
  .object({
    id: z.string().describe(FIELDS.workspaceId),
    name: z.string().describe(FIELDS.name),
    platformFeeBps: z.int().describe(FIELDS.fee),
    eligibleSolvers: z.array(z.string()).nullable().describe(FIELDS.eligible),
    limits: zLimits.meta({ id: 'KeyLimits', description: FIELDS.limits }),
    travelRuleThresholdUsd: z.number().nullable().describe(FIELDS.travelRule),
  })
  .meta({ id: 'Workspace', description: 'An account that keys belong to.' });
export type WorkspaceView = z.infer<typeof zWorkspace>;

const workspaceFields = {
  name: zName(120).describe(FIELDS.name),
  platformFeeBps: z.int().min(0).max(10_000).describe(FIELDS.fee),
  eligibleSolvers: z.array(zId).max(1_000).nullable().describe(FIELDS.eligible),
  limits: zLimits
    .partial()
    .meta({ id: 'KeyLimitsChange', description: `${FIELDS.limits} Absent ones stay.` }),
  travelRuleThresholdUsd: z.number().min(0).max(1e15).nullable().describe(FIELDS.travelRule),
};
const zSomeOfWorkspace = z.strictObject(workspaceFields).partial();
export const zWorkspaceChange = zSomeOfWorkspace.meta({
  id: 'WorkspaceChange',
  description: 'What of a workspace to change; the rest stays.',
});
export type WorkspaceChange = z.infer<typeof zWorkspaceChange>;
export const zNewWorkspace = zSomeOfWorkspace
  .extend({ id: zId.describe(FIELDS.workspaceId), name: workspaceFields.name })
  .meta({ id: 'NewWorkspace', description: 'A workspace to be created.' });
export type NewWorkspace = z.infer<typeof zNewWorkspace>;

export const zMember = z
  .object({
    workspaceId: z.string().describe(FIELDS.workspaceId),
    userId: z.string().describe('Id of the member.'),
    firstName: z.string().describe('First name.'),
    lastName: z.string().describe('Last name.'),
    email: z.string().describe('Email address.'),
    role: zRole,
    kycStatus: zKyc,
    joinedAt: zWhen.describe('When it joined.'),
    removedAt: zWhen.nullable().describe('When it was removed. null while it is a member.'),
  })
  .meta({ id: 'Member', description: 'A person of a workspace.' });
export type MemberView = z.infer<typeof zMember>;

const memberFields = {
  firstName: zName(80).describe('First name.'),
  lastName: zName(80).describe('Last name.'),
  email: z.email().max(254).describe('Email address.'),
  role: zRole,
  kycStatus: zKyc,
};
export const zMemberChange = z
  .strictObject(memberFields)
  .partial()
  .meta({ id: 'MemberChange', description: 'What of a member to change; the rest stays.' });
export type MemberChange = z.infer<typeof zMemberChange>;
export const zNewMember = z
  .strictObject({
    ...memberFields,
    kycStatus: memberFields.kycStatus.default('none'),
    userId: zId.optional().describe('Id of the member. Absent: the venue chooses one.'),
  })
  .meta({ id: 'NewMember', description: 'A member to be added.' });
export type NewMember = z.infer<typeof zNewMember>;

export const zKey = z
  .object({
    id: z.string().describe('Id of the key, which is no secret.'),
    kind: zKeyKind,
    mode: zMode,
    begins: z.string().describe("First characters of the key's text."),
    workspaceId: z.string().nullable().describe('Its workspace. null for solver keys.'),
    role: zRole.nullable().describe('Role of a workspace key. null for other kinds.'),
    memberId: z.string().nullable().describe('Member who uses it. null when none is named.'),
    solverId: z.string().nullable().describe('Its solver. null for other kinds.'),
    label: z.string().describe('Note of the operator; empty without one.'),
    createdAt: zWhen.describe('When it was issued.'),
    revokedAt: zWhen.nullable().describe('When it was revoked. null while it is valid.'),
  })
  .meta({ id: 'ApiKey', description: 'A key, without its text.' });
export type KeyView = z.infer<typeof zKey>;

/** GET /api/v1/key. */
export const zKeyHolder = z
  .object({
    id: z.string().describe('Id of the key, which is no secret.'),
    kind: zKeyKind,
    mode: zMode,
    role: zRole.nullable().describe('Role of a workspace key. null for a service key.'),
    memberId: z.string().nullable().describe('Member who uses it. null when none is named.'),
    workspace: z
      .object({
        id: z.string().describe(FIELDS.workspaceId),
        name: z.string().describe(FIELDS.name),
        platformFeeBps: z.int().describe(FIELDS.fee),
      })
      .meta({ id: 'KeyWorkspace', description: 'The workspace that a key belongs to.' }),
  })
  .meta({ id: 'KeyHolder', description: 'Whose key was sent, and what it may do.' });
export type KeyHolder = z.infer<typeof zKeyHolder>;

export const zNewKeyRequest = z
  .strictObject({
    kind: zKeyKind,
    mode: zMode.default('test'),
    workspaceId: zId.optional().describe('Its workspace. Not for solver keys.'),
    role: zRole
      .optional()
      .describe(
        "Of a workspace key: at most the member's own, which is the default; `viewer` without a member.",
      ),
    memberId: zId.optional().describe('Member who uses it.'),
    solverId: zId.optional().describe('Its solver. For solver keys only.'),
    label: z
      .union([z.literal(''), zName(120)])
      .default('')
      .describe('Note of the operator: one line.'),
  })
  .meta({ id: 'NewKey', description: 'A key to be issued.' });
export type NewKeyRequest = z.infer<typeof zNewKeyRequest>;
export const zIssuedKey = z
  .object({ key: zKey, text: z.string().describe('The key itself. It is shown only here: store it now.') })
  .meta({ id: 'IssuedKey', description: 'A key with its text.' });

/** /api/v1/workspaces/{id}/keys. */
const zKeysPath = z.strictObject({ id: z.string().max(200).describe('The workspace of the key.') });
const zOwnKind = zExplained('What a key of a workspace is for.', {
  service: 'quotes, orders, preflight, roster and pairs',
  workspace: 'the trade history, and for owners and admins the webhooks and keys',
}).meta({ id: 'WorkspaceKeyKind' });
export const zWorkspaceKeysParams = zKeysPath;
export const zWorkspaceKeyParams = zKeysPath.extend({
  keyId: z.string().max(200).describe('The id of the key, such as key_0123456789abcdef.'),
});
const zWorkspaceKey = z
  .object({
    ...zKey.pick({ id: true, mode: true, begins: true, role: true, label: true, createdAt: true }).shape,
    kind: zOwnKind,
    lastUsedAt: zWhen
      .nullable()
      .describe('When a request last carried the key, up to a minute late. null: none has.'),
    issuedBy: z
      .string()
      .nullable()
      .describe("Id of the workspace key that issued it. null: the venue's operator issued it."),
    member: z
      .object({
        userId: z.string().describe('Id of the member.'),
        firstName: z.string().describe('First name.'),
        lastName: z.string().describe('Last name.'),
      })
      .meta({ id: 'KeyMember', description: 'The member who uses a key.' })
      .nullable()
      .optional()
      .describe('Who uses it. null when none is named; absent unless the caller is owner or admin.'),
  })
  .meta({ id: 'WorkspaceKey', description: 'A valid key of a workspace, without its text.' });
export type WorkspaceKeyView = z.infer<typeof zWorkspaceKey>;
export const zWorkspaceKeys = z
  .object({
    keys: z.array(zWorkspaceKey).describe("The valid keys of the caller's mode, oldest first."),
    limit: z
      .int()
      .describe('How many valid keys of a mode the workspace may have before it can issue no more.'),
  })
  .meta({ id: 'WorkspaceKeys', description: 'The keys of a workspace.' });
export const zNewWorkspaceKey = z
  .strictObject({
    kind: zOwnKind,
    role: zRole
      .optional()
      .describe("Of a workspace key: at most the caller's own. Absent: `viewer`. Not for service keys."),
    label: z
      .union([z.literal(''), zName(120)])
      .default('')
      .describe('Your own note: one line.'),
  })
  .meta({
    id: 'NewWorkspaceKey',
    description: "A key to be issued, of the caller's mode and for the caller's member.",
  });
export type NewWorkspaceKey = z.infer<typeof zNewWorkspaceKey>;
export const zIssuedWorkspaceKey = z
  .object({
    key: zWorkspaceKey,
    text: z.string().describe('The key itself. It is shown only here: store it now.'),
  })
  .meta({ id: 'IssuedWorkspaceKey', description: 'A key of a workspace with its text.' });
export const zRevokedWorkspaceKey = z
  .object({ id: z.string().describe('Id of the key that was revoked.') })
  .meta({ id: 'RevokedWorkspaceKey', description: 'A key that is no longer valid.' });

/** /api/v1/workspaces/{id}/members. */
export const zWorkspaceMembersParams = z.strictObject({
  id: z.string().max(200).describe('The workspace of the key.'),
});
export const zWorkspaceMemberParams = zWorkspaceMembersParams.extend({
  memberId: z.string().max(200).describe('The id of the member.'),
});
export const zWorkspaceMember = zMember
  .omit({ workspaceId: true, removedAt: true })
  .meta({ id: 'WorkspaceMember', description: "A person of the key's workspace." });
export type WorkspaceMemberView = z.infer<typeof zWorkspaceMember>;
export const zWorkspaceMembers = z
  .object({
    members: z.array(zWorkspaceMember).describe('Those who are members now.'),
    limit: z.int().describe('How many members the workspace may have before it can add no more.'),
  })
  .meta({ id: 'WorkspaceMembers', description: 'The members of a workspace.' });
export const zNewWorkspaceMember = z
  .strictObject({ ...memberFields, role: zRole.describe("At most the caller's own.") })
  .omit({ kycStatus: true })
  .meta({ id: 'NewWorkspaceMember', description: 'A member to be added. The venue chooses the id.' });
export type NewWorkspaceMember = z.infer<typeof zNewWorkspaceMember>;
export const zWorkspaceMemberChange = z
  .strictObject({ role: zRole.describe("At most the caller's own. A lower one lowers the member's keys.") })
  .meta({ id: 'WorkspaceMemberChange', description: 'The role that a member gets.' });
export type WorkspaceMemberChange = z.infer<typeof zWorkspaceMemberChange>;

export const zOnboarded = z
  .object({
    id: z.string().describe('Roster id.'),
    name: z.string().describe(FIELDS.name),
    kind: zSolverKind,
    corridors: z.array(z.string()).nullable().describe(FIELDS.corridors),
    disabled: z.boolean().describe(FIELDS.disabled),
    firstSeenAt: zWhen.nullable().describe('When it connected for the first time. null until then.'),
    lastQuoteAt: zWhen.nullable().describe('When it quoted last. null until it has.'),
  })
  .meta({ id: 'OnboardedSolver', description: 'A solver that may join.' });
export type OnboardedView = z.infer<typeof zOnboarded>;

const solverFields = {
  name: zName(80).describe(FIELDS.name),
  kind: zSolverKind,
  corridors: z
    .array(
      z
        .string()
        .regex(/^[a-z0-9]+(?:-[a-z0-9]+)+$/, 'must be <source>-<dest> with slugs of chains')
        .max(80),
    )
    .max(1_000)
    .nullable()
    .describe(FIELDS.corridors),
  disabled: z.boolean().describe(FIELDS.disabled),
};
const zSomeOfSolver = z.strictObject(solverFields).partial();
export const zSolverChange = zSomeOfSolver.meta({
  id: 'SolverChange',
  description: 'What of a solver to change; the rest stays.',
});
export type SolverChange = z.infer<typeof zSolverChange>;
export const zNewSolver = zSomeOfSolver
  .extend({ id: zId.describe('Roster id.'), name: solverFields.name })
  .meta({ id: 'NewSolver', description: 'A solver to be onboarded.' });
export type NewSolver = z.infer<typeof zNewSolver>;

export const zChange = z
  .object({
    at: zWhen.describe('When it was changed.'),
    who: z.string().describe('Who changed it.'),
    what: z.string().describe('What was done, such as `key.revoke`.'),
    workspaceId: z.string().nullable().describe('Workspace that it concerns. null for none.'),
    subject: zExplained('What kind of thing was changed.', {
      workspace: 'a workspace',
      member: 'a member',
      key: 'a key',
      solver: 'a solver',
    }),
    subjectId: z.string().describe('Its id.'),
    before: z.record(z.string(), z.unknown()).nullable().describe('Its fields before. null when it was new.'),
    after: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('Its fields after. null when it was removed.'),
  })
  .meta({ id: 'AuditedChange', description: 'An entry of the audit log.' });
export type ChangeView = z.infer<typeof zChange>;
