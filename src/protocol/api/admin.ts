/** Schemas of the admin API and the command line. */

import { z } from 'zod';

const ROLES = ['owner', 'admin', 'member', 'viewer'] as const;
const KYC = ['none', 'pending', 'verified', 'rejected'] as const;

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
    .regex(
      /^[^\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/u,
      'must be one line without control characters',
    )
    .refine((text) => text.trim() === text, 'must not begin or end with a space');
const zWhen = z.iso.datetime();
const zLimits = z.strictObject({
  /** Live, unsubmitted quotes per key; null: the venue's default. */
  openQuotes: z.int().min(1).max(1_000_000).nullable(),
  /** Their notional, USD. */
  openNotionalUsd: z.number().positive().max(1e15).nullable(),
});

export const zWorkspace = z.object({
  id: z.string(),
  name: z.string(),
  /** Of the input. */
  platformFeeBps: z.int(),
  eligibleSolvers: z.array(z.string()).nullable(),
  limits: zLimits,
  travelRuleThresholdUsd: z.number().nullable(),
});
export type WorkspaceView = z.infer<typeof zWorkspace>;

const workspaceFields = {
  name: zName(120),
  platformFeeBps: z.int().min(0).max(10_000),
  eligibleSolvers: z.array(zId).max(1_000).nullable(),
  limits: zLimits.partial(),
  travelRuleThresholdUsd: z.number().min(0).max(1e15).nullable(),
};
export const zWorkspaceChange = z.strictObject(workspaceFields).partial();
export type WorkspaceChange = z.infer<typeof zWorkspaceChange>;
export const zNewWorkspace = zWorkspaceChange.extend({ id: zId, name: workspaceFields.name });
export type NewWorkspace = z.infer<typeof zNewWorkspace>;

export const zMember = z.object({
  workspaceId: z.string(),
  userId: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  email: z.string(),
  role: z.enum(ROLES),
  kycStatus: z.enum(KYC),
  joinedAt: zWhen,
  removedAt: zWhen.nullable(),
});
export type MemberView = z.infer<typeof zMember>;

const memberFields = {
  firstName: zName(80),
  lastName: zName(80),
  email: z.email().max(254),
  role: z.enum(ROLES),
  kycStatus: z.enum(KYC),
};
export const zMemberChange = z.strictObject(memberFields).partial();
export type MemberChange = z.infer<typeof zMemberChange>;
export const zNewMember = z.strictObject({
  ...memberFields,
  kycStatus: memberFields.kycStatus.default('none'),
  userId: zId.optional(),
});
export type NewMember = z.infer<typeof zNewMember>;

export const zKey = z.object({
  id: z.string(),
  kind: z.enum(['service', 'workspace', 'solver']),
  mode: z.enum(['test', 'live']),
  /** First characters of the key's text. */
  begins: z.string(),
  workspaceId: z.string().nullable(),
  role: z.enum(ROLES).nullable(),
  memberId: z.string().nullable(),
  solverId: z.string().nullable(),
  label: z.string(),
  createdAt: zWhen,
  revokedAt: zWhen.nullable(),
});
export type KeyView = z.infer<typeof zKey>;

export const zNewKeyRequest = z.strictObject({
  kind: z.enum(['service', 'workspace', 'solver']),
  mode: z.enum(['test', 'live']).default('test'),
  workspaceId: zId.optional(),
  /** At most the member's own, which is the default; `viewer` without a member. */
  role: z.enum(ROLES).optional(),
  memberId: zId.optional(),
  solverId: zId.optional(),
  label: z.union([z.literal(''), zName(120)]).default(''),
});
export type NewKeyRequest = z.infer<typeof zNewKeyRequest>;
/** `text` is shown only here. */
export const zIssuedKey = z.object({ key: zKey, text: z.string() });

export const zOnboarded = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(['lp', 'solver']),
  corridors: z.array(z.string()).nullable(),
  disabled: z.boolean(),
  firstSeenAt: zWhen.nullable(),
  lastQuoteAt: zWhen.nullable(),
});
export type OnboardedView = z.infer<typeof zOnboarded>;

const solverFields = {
  name: zName(80),
  kind: z.enum(['lp', 'solver']),
  corridors: z
    .array(
      z
        .string()
        .regex(/^[a-z0-9]+(?:-[a-z0-9]+)+$/, 'must be <source>-<dest> with slugs of chains')
        .max(80),
    )
    .max(1_000)
    .nullable(),
  disabled: z.boolean(),
};
export const zSolverChange = z.strictObject(solverFields).partial();
export type SolverChange = z.infer<typeof zSolverChange>;
export const zNewSolver = zSolverChange.extend({ id: zId, name: solverFields.name });
export type NewSolver = z.infer<typeof zNewSolver>;

export const zChange = z.object({
  at: zWhen,
  who: z.string(),
  what: z.string(),
  workspaceId: z.string().nullable(),
  subject: z.enum(['workspace', 'member', 'key', 'solver']),
  subjectId: z.string(),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
});
export type ChangeView = z.infer<typeof zChange>;
