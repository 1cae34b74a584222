/** `firmquote workspace`, `member` and `solver`. */

import {
  type ChangeView,
  type MemberView,
  type OnboardedView,
  type WorkspaceView,
  zMemberChange,
  zNewMember,
  zNewSolver,
  zNewWorkspace,
  zSolverChange,
  zWorkspaceChange,
} from '../../../protocol/admin/admin.ts';
import type { Admin } from '../../../venue/admin/admin.ts';
import { type AdminOptions, readInput, withAdmin } from './venue-admin.ts';
import { printLines, table } from '../../terminal/table.ts';
import { badRequest } from '../../wiring/bad-request.ts';

interface WorkspaceOptions extends AdminOptions {
  name?: string;
  feeBps?: number;
  solvers?: string;
  openQuotes?: string;
  openNotionalUsd?: string;
  travelRuleUsd?: string;
}

const WORKSPACE_OPTIONS = {
  id: '<id>',
  name: '--name',
  platformFeeBps: '--fee-bps',
  eligibleSolvers: '--solvers',
  'limits.openQuotes': '--open-quotes',
  'limits.openNotionalUsd': '--open-notional-usd',
  travelRuleThresholdUsd: '--travel-rule-usd',
};

export const listWorkspaces = (options: AdminOptions): Promise<void> =>
  list(
    options,
    'workspaces',
    (admin) => admin.workspaces.list(),
    workspaceTable,
    'No workspace yet. Add one with: firmquote workspace add <id>',
  );

export const showWorkspace = (id: string, { config, json }: AdminOptions): Promise<void> =>
  withAdmin(config, async ({ admin }) => {
    const [workspace, members, keys] = await Promise.all([
      admin.workspaces.show(id),
      admin.members.list(id),
      admin.keys.list({ workspaceId: id, live: true }),
    ]);
    if (json) return say({ workspace, members, keys });
    printLines([
      ...workspaceTable([workspace]),
      '',
      ...memberTable(members),
      '',
      `${keys.length} live ${keys.length === 1 ? 'key' : 'keys'}. List them with: firmquote keys list --workspace ${id}`,
    ]);
  });

export const addWorkspace = (id: string, options: WorkspaceOptions): Promise<void> => {
  const wanted = { id, ...changesOf(options), name: options.name ?? id };
  return change(
    options,
    (admin, who) => admin.workspaces.add(who, readInput(zNewWorkspace, wanted, WORKSPACE_OPTIONS)),
    workspaceTable,
  );
};

export const setWorkspace = (id: string, options: WorkspaceOptions): Promise<void> => {
  const wanted = requireChange(changesOf(options));
  return change(
    options,
    (admin, who) => admin.workspaces.set(who, id, readInput(zWorkspaceChange, wanted, WORKSPACE_OPTIONS)),
    workspaceTable,
  );
};

function changesOf({
  name,
  feeBps,
  solvers,
  openQuotes,
  openNotionalUsd,
  travelRuleUsd,
}: WorkspaceOptions): object {
  const limits = {
    ...(openQuotes === undefined ? {} : { openQuotes: numberOr(openQuotes, 'default') }),
    ...(openNotionalUsd === undefined ? {} : { openNotionalUsd: numberOr(openNotionalUsd, 'default') }),
  };
  return {
    name,
    platformFeeBps: feeBps,
    eligibleSolvers: solvers === undefined ? undefined : listOr(solvers, 'all'),
    limits: Object.keys(limits).length === 0 ? undefined : limits,
    travelRuleThresholdUsd: travelRuleUsd === undefined ? undefined : numberOr(travelRuleUsd, 'none'),
  };
}

interface MemberOptions extends AdminOptions {
  id?: string;
  firstName?: string;
  lastName?: string;
  email?: string;
  role?: string;
  kyc?: string;
  removed?: boolean;
}

const MEMBER_OPTIONS = {
  userId: '--id',
  firstName: '--first-name',
  lastName: '--last-name',
  email: '--email',
  role: '--role',
  kycStatus: '--kyc',
};

export const listMembers = (
  workspaceId: string,
  { removed = false, ...options }: MemberOptions,
): Promise<void> =>
  list(options, 'members', (admin) => admin.members.list(workspaceId, { removed }), memberTable);

export const addMember = (workspaceId: string, options: MemberOptions): Promise<void> => {
  const wanted = { userId: options.id, ...person(options) };
  return change(
    options,
    (admin, who) => admin.members.add(who, workspaceId, readInput(zNewMember, wanted, MEMBER_OPTIONS)),
    memberTable,
  );
};

export const setMember = (workspaceId: string, userId: string, options: MemberOptions): Promise<void> => {
  const wanted = requireChange(person(options));
  return change(
    options,
    (admin, who) =>
      admin.members.set(who, workspaceId, userId, readInput(zMemberChange, wanted, MEMBER_OPTIONS)),
    memberTable,
  );
};

export const removeMember = (workspaceId: string, userId: string, options: MemberOptions): Promise<void> =>
  change(
    options,
    (admin, who) => admin.members.remove(who, workspaceId, userId),
    () => [`${userId} is no longer a member of ${workspaceId}; their keys are revoked everywhere.`],
  );

const person = ({ firstName, lastName, email, role, kyc }: MemberOptions): object => ({
  firstName,
  lastName,
  email,
  role,
  kycStatus: kyc,
});

interface SolverOptions extends AdminOptions {
  name?: string;
  kind?: string;
  corridors?: string;
  disabled?: boolean;
  enabled?: boolean;
}

const SOLVER_OPTIONS = {
  id: '<id>',
  name: '--name',
  kind: '--kind',
  corridors: '--corridors',
  disabled: '--disabled',
};

export const listSolvers = (options: AdminOptions): Promise<void> =>
  list(
    options,
    'solvers',
    (admin) => admin.solvers.list(),
    solverTable,
    'No solver yet. Add one with: firmquote solver add <id>',
  );

export const addSolver = (id: string, options: SolverOptions): Promise<void> => {
  const wanted = { id, ...solverTerms(options), name: options.name ?? id };
  return change(
    options,
    (admin, who) => admin.solvers.add(who, readInput(zNewSolver, wanted, SOLVER_OPTIONS)),
    (solvers) => [
      ...solverTable(solvers),
      '',
      `Issue its key with: firmquote keys issue --kind solver --solver ${id} -c ${options.config}`,
    ],
  );
};

export const setSolver = (id: string, options: SolverOptions): Promise<void> => {
  const wanted = requireChange(solverTerms(options));
  return change(
    options,
    (admin, who) => admin.solvers.set(who, id, readInput(zSolverChange, wanted, SOLVER_OPTIONS)),
    solverTable,
  );
};

function solverTerms({ name, kind, corridors, disabled, enabled }: SolverOptions): object {
  if (disabled && enabled) throw badRequest('A solver is either --disabled or --enabled.');
  return {
    name,
    kind,
    corridors: corridors === undefined ? undefined : listOr(corridors, 'all'),
    disabled: disabled ? true : enabled ? false : undefined,
  };
}

export const showChanges = (
  workspaceId: string | undefined,
  { config, json, limit }: AdminOptions & { limit: number },
): Promise<void> =>
  withAdmin(config, async ({ admin }) => {
    const changes = await admin.changes({ limit, ...(workspaceId === undefined ? {} : { workspaceId }) });
    if (json) return say({ changes });
    const rows = changes.map((change) => [
      change.at,
      change.who,
      change.what,
      change.workspaceId ?? '-',
      change.subjectId,
      difference(change),
    ]);
    printLines(
      rows.length === 0
        ? ['The audit log is empty.']
        : table(['at', 'who', 'what', 'workspace', 'of', 'change'], rows),
    );
  });

function difference({ before, after, workspaceId, subjectId, at }: ChangeView): string {
  const [was, is] = [before ?? {}, after ?? {}];
  const text = (value: unknown): string => JSON.stringify(value ?? null);
  const changed = [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .sort()
    .filter((key) => text(was[key]) !== text(is[key]));
  if (before !== null)
    return changed.map((key) => `${key}: ${text(was[key])} -> ${text(is[key])}`).join(', ');
  return changed
    .filter((key) => ![workspaceId, subjectId, at, ''].includes(is[key] as string))
    .map((key) => `${key}=${text(is[key])}`)
    .join(', ');
}

const workspaceTable = (workspaces: readonly WorkspaceView[]): string[] =>
  table(
    ['workspace', 'name', 'fee bps', 'solvers', 'open quotes', 'open USD', 'travel rule USD'],
    workspaces.map(({ id, name, platformFeeBps, eligibleSolvers, limits, travelRuleThresholdUsd }) => [
      id,
      name,
      String(platformFeeBps),
      eligibleSolvers?.join(',') ?? 'all',
      String(limits.openQuotes ?? 'default'),
      String(limits.openNotionalUsd ?? 'default'),
      String(travelRuleThresholdUsd ?? 'none'),
    ]),
    { right: ['fee bps', 'open quotes', 'open USD', 'travel rule USD'] },
  );

const memberTable = (members: readonly MemberView[]): string[] =>
  members.length === 0
    ? ['No members.']
    : table(
        ['member', 'name', 'email', 'role', 'kyc', 'joined', 'left'],
        members.map(({ userId, firstName, lastName, email, role, kycStatus, joinedAt, removedAt }) => [
          userId,
          `${firstName} ${lastName}`,
          email,
          role,
          kycStatus,
          joinedAt,
          removedAt ?? '-',
        ]),
      );

const solverTable = (solvers: readonly OnboardedView[]): string[] =>
  table(
    ['solver', 'name', 'kind', 'corridors', 'state', 'first seen', 'last quote'],
    solvers.map(({ id, name, kind, corridors, disabled, firstSeenAt, lastQuoteAt }) => [
      id,
      name,
      kind,
      corridors?.join(',') ?? 'all',
      disabled ? 'disabled' : 'enabled',
      firstSeenAt ?? 'never',
      lastQuoteAt ?? 'never',
    ]),
  );

const numberOr = (text: string, nothing: string): number | null => (text === nothing ? null : Number(text));
const listOr = (text: string, everything: string): string[] | null =>
  text === everything
    ? null
    : text
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '');

function requireChange<T extends object>(wanted: T): T {
  if (Object.values(wanted).every((value) => value === undefined))
    throw badRequest('Nothing to change. Give at least one option.');
  return wanted;
}

const list = <T>(
  { config, json }: AdminOptions,
  name: string,
  read: (admin: Admin) => Promise<readonly T[]>,
  lines: (found: readonly T[]) => string[],
  none?: string,
): Promise<void> =>
  withAdmin(config, async ({ admin }) => {
    const found = await read(admin);
    if (json) return say({ [name]: found });
    printLines(found.length === 0 && none !== undefined ? [none] : lines(found));
  });

const say = (answered: object): void => console.log(JSON.stringify(answered));

const change = <T extends object>(
  { config, json }: AdminOptions,
  apply: (admin: Admin, who: string) => Promise<T>,
  lines: (changed: T[]) => string[],
): Promise<void> =>
  withAdmin(config, async ({ admin, who }) => {
    const changed = await apply(admin, who);
    if (json) say(changed);
    else printLines(lines([changed]));
  });
