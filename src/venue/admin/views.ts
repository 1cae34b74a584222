/** Database rows as administrators see them, in responses and in the audit log, without key hashes. */

import { toIso } from '../../domain/time.ts';
import type { AdminEntry } from '../../ports/stores/admin-store.ts';
import type { Member } from '../../ports/stores/members.ts';
import type { ApiKey, SolverRecord, Workspace } from '../../ports/stores/store.ts';
import type {
  ChangeView,
  KeyView,
  MemberView,
  OnboardedView,
  WorkspaceView,
} from '../../protocol/admin/admin.ts';

const when = (ms: number | null): string | null => (ms === null ? null : toIso(ms));

export const workspaceView = ({
  id,
  name,
  platformFeeBps,
  eligibleSolvers,
  limits,
  travelRuleThresholdUsd,
}: Workspace): WorkspaceView => ({
  id,
  name,
  platformFeeBps,
  eligibleSolvers: eligibleSolvers && [...eligibleSolvers],
  limits: { ...limits },
  travelRuleThresholdUsd,
});

export const memberView = ({
  workspaceId,
  id,
  firstName,
  lastName,
  email,
  role,
  kycStatus,
  joinedAtMs,
  removedAtMs,
}: Member): MemberView => ({
  workspaceId,
  userId: id,
  firstName,
  lastName,
  email,
  role,
  kycStatus,
  joinedAt: toIso(joinedAtMs),
  removedAt: when(removedAtMs),
});

export const keyView = ({
  id,
  kind,
  mode,
  lookup,
  workspaceId,
  role,
  memberId,
  solverId,
  label,
  createdAtMs,
  revokedAtMs,
}: ApiKey): KeyView => ({
  id,
  kind,
  mode,
  begins: `fq_${mode}_${lookup}`,
  workspaceId,
  role,
  memberId,
  solverId,
  label,
  createdAt: toIso(createdAtMs),
  revokedAt: when(revokedAtMs),
});

export const solverView = ({
  id,
  name,
  kind,
  corridors,
  disabled,
  firstSeenAtMs,
  lastQuoteAtMs,
}: SolverRecord): OnboardedView => ({
  id,
  name,
  kind,
  corridors: corridors && [...corridors],
  disabled,
  firstSeenAt: when(firstSeenAtMs),
  lastQuoteAt: when(lastQuoteAtMs),
});

export const changeView = ({
  atMs,
  who,
  what,
  workspaceId,
  subject,
  subjectId,
  before,
  after,
}: AdminEntry): ChangeView => ({
  at: toIso(atMs),
  who,
  what,
  workspaceId,
  subject,
  subjectId,
  before: before as ChangeView['before'],
  after: after as ChangeView['after'],
});
