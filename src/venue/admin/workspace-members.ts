/** The members of a workspace, as its owners and admins see and change them. */

import type { AdminTx } from '../../ports/stores/admin-store.ts';
import type { ApiKey, Role } from '../../ports/stores/store.ts';
import type {
  MemberView,
  NewWorkspaceMember,
  WorkspaceMemberChange,
  WorkspaceMemberView,
} from '../../protocol/admin/admin.ts';
import { ApiError, invalid } from '../../protocol/errors.ts';
import type { VenueDeps } from '../deps.ts';
import { conflict } from './change.ts';
import { writeNewMember, memberAmong, outranks, writeMemberRemoval, writeMemberChange } from './members.ts';
import { memberView } from './views.ts';
import { BY_KEY, changeAsManager, requireManager } from './workspace-manager.ts';

/** The limit keeps a workspace from filling the database. */
const MAX_MEMBERS = 200;
const ABOUT = { what: 'member', doing: 'Seeing and changing members' };

export interface WorkspaceMembers {
  /** Lists the members who were not removed. */
  list(key: ApiKey, workspaceId: string): Promise<{ members: WorkspaceMemberView[]; limit: number }>;
  /** Throws 409 at the limit and for an address that is taken, 422 for a role above the caller's. */
  add(key: ApiKey, workspaceId: string, wanted: NewWorkspaceMember): Promise<WorkspaceMemberView>;
  /** Throws 403 for a member above the caller, 409 for the last owner, 422 for a role above its own. */
  set(
    key: ApiKey,
    workspaceId: string,
    userId: string,
    change: WorkspaceMemberChange,
  ): Promise<WorkspaceMemberView>;
  /** Revokes the member's keys. Throws 403 for a member above the caller, 409 for the last owner. */
  remove(key: ApiKey, workspaceId: string, userId: string): Promise<WorkspaceMemberView>;
}

export function createWorkspaceMembers({
  adminStore,
  store,
  clock,
  random,
  log,
}: Pick<VenueDeps, 'adminStore' | 'store' | 'clock' | 'random' | 'log'>): WorkspaceMembers {
  const deps = { clock, random };
  async function change(
    key: ApiKey,
    workspaceId: string,
    what: string,
    work: (tx: AdminTx, caller: ApiKey) => Promise<MemberView>,
  ): Promise<WorkspaceMemberView> {
    requireManager(key, workspaceId, ABOUT);
    const member = await changeAsManager(adminStore, key, workspaceId, ABOUT, work);
    log.info({ workspace: workspaceId, key: key.id, member: member.userId }, `a workspace ${what} a member`);
    return view(member);
  }

  return {
    async list(key, workspaceId) {
      requireManager(key, workspaceId, ABOUT);
      const present = (await store.listMembers(workspaceId)).filter(
        ({ removedAtMs }) => removedAtMs === null,
      );
      return { members: present.map((member) => view(memberView(member))), limit: MAX_MEMBERS };
    },
    add: (key, workspaceId, wanted) =>
      change(key, workspaceId, 'added', async (tx, caller) => {
        requireRole(caller, wanted.role);
        const present = (await tx.members(workspaceId)).filter(({ removedAtMs }) => removedAtMs === null);
        if (present.length >= MAX_MEMBERS)
          throw conflict(`This workspace has ${MAX_MEMBERS} members, which is the limit. Remove one first.`);
        // Whether an identity was checked, the venue says.
        const member = { ...wanted, kycStatus: 'none' } as const;
        return writeNewMember(tx, deps, { who: BY_KEY + caller.id, workspaceId }, member);
      }),
    set: (key, workspaceId, userId, { role }) =>
      change(key, workspaceId, 'changed', async (tx, caller) => {
        const among = await memberAmong(tx, workspaceId, userId);
        await requireReach(tx, caller, among.member);
        requireRole(caller, role);
        return writeMemberChange(tx, deps, BY_KEY + caller.id, among, { role });
      }),
    remove: (key, workspaceId, userId) =>
      change(key, workspaceId, 'removed', async (tx, caller) => {
        const among = await memberAmong(tx, workspaceId, userId);
        await requireReach(tx, caller, among.member);
        return writeMemberRemoval(tx, deps, BY_KEY + caller.id, among);
      }),
  };
}

function requireRole({ role: own }: ApiKey, role: Role): void {
  if (own !== null && outranks(role, own))
    throw invalid(
      'value_error',
      ['body', 'role'],
      `Your key is ${own}: it cannot give a member the role ${role}.`,
    );
}

/** A change of a member lowers or revokes keys: a test key must not reach those of the live mode. */
async function requireReach(
  tx: AdminTx,
  caller: ApiKey,
  { workspaceId, id, role }: { workspaceId: string; id: string; role: Role },
): Promise<void> {
  if (caller.role !== null && outranks(role, caller.role))
    throw new ApiError(
      'wrong_key_kind',
      `This member is ${role}, and your key is ${caller.role}: it cannot change or remove them.`,
    );
  if (caller.mode === 'test' && (await tx.keysOf(workspaceId, id)).some(({ mode }) => mode === 'live'))
    throw new ApiError(
      'wrong_key_kind',
      'This member has valid live keys, which the change would end or lower: it needs a live key.',
    );
}

const view = ({
  userId,
  firstName,
  lastName,
  email,
  role,
  kycStatus,
  joinedAt,
}: MemberView): WorkspaceMemberView => ({
  ...{ userId, firstName, lastName, email, role, kycStatus, joinedAt },
});
