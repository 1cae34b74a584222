/** Members of workspaces. A workspace with an owner keeps one; no key outlives or outranks its membership. */

import type { AdminTx } from '../../ports/stores/admin-store.ts';
import type { Member } from '../../ports/stores/members.ts';
import type { Role } from '../../ports/stores/store.ts';
import type { MemberChange, MemberView, NewMember } from '../../protocol/admin/admin.ts';
import { KEYS_TOPIC } from '../access/keys.ts';
import { type AdminDeps, conflict, knownWorkspace, missing, recorder } from './change.ts';
import { keyView, memberView } from './views.ts';

const RANK: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 };
export const outranks = (one: Role, other: Role): boolean => RANK[one] > RANK[other];

type MemberDeps = Pick<AdminDeps, 'clock' | 'random'>;

export interface MemberAdmin {
  /** Throws 404. With `removed`, those too who were removed. */
  list(workspaceId: string, options?: { removed: boolean }): Promise<MemberView[]>;
  /** Throws 404, and 409 for an id or address that is taken. */
  add(who: string, workspaceId: string, wanted: NewMember): Promise<MemberView>;
  /** Throws 404, and 409 for the last owner. */
  set(who: string, workspaceId: string, userId: string, change: MemberChange): Promise<MemberView>;
  /** Revokes this member's keys. Throws 404, and 409 for the last owner. */
  remove(who: string, workspaceId: string, userId: string): Promise<MemberView>;
}

export function createMemberAdmin({ store, venue, clock, random }: AdminDeps): MemberAdmin {
  const deps = { clock, random };
  return {
    async list(workspaceId, { removed } = { removed: false }) {
      if (!(await venue.workspace(workspaceId))) throw missing('workspace', workspaceId);
      return (await venue.listMembers(workspaceId))
        .filter(({ removedAtMs }) => removed || removedAtMs === null)
        .map(memberView);
    },
    add: (who, workspaceId, wanted) =>
      store.change((tx) => writeNewMember(tx, deps, { who, workspaceId }, wanted)),
    set: (who, workspaceId, userId, change) =>
      store.change(async (tx) =>
        writeMemberChange(tx, deps, who, await memberAmong(tx, workspaceId, userId), change),
      ),
    remove: (who, workspaceId, userId) =>
      store.change(async (tx) =>
        writeMemberRemoval(tx, deps, who, await memberAmong(tx, workspaceId, userId)),
      ),
  };
}

/** A member of the workspace, and its other members. */
interface Among {
  member: Member;
  others: readonly Member[];
}

/** Throws 404. */
export async function memberAmong(tx: AdminTx, workspaceId: string, userId: string): Promise<Among> {
  await knownWorkspace(tx, workspaceId);
  const members = (await tx.members(workspaceId)).filter(({ removedAtMs }) => removedAtMs === null);
  const member = members.find(({ id }) => id === userId);
  if (!member) throw missing('member', userId);
  return { member, others: members.filter(({ id }) => id !== userId) };
}

/** Throws 404, and 409 for an id or address that is taken. */
export async function writeNewMember(
  tx: AdminTx,
  { clock, random }: MemberDeps,
  { who, workspaceId }: { who: string; workspaceId: string },
  { userId = `usr_${random.bytes32().slice(2, 18)}`, firstName, lastName, email, role, kycStatus }: NewMember,
): Promise<MemberView> {
  await knownWorkspace(tx, workspaceId);
  const members = await tx.members(workspaceId);
  if (members.some(({ id }) => id === userId))
    throw conflict(
      `"${userId}" is or was a member; an id never passes to another person. Choose another one.`,
    );
  requireFreeEmail(members, email);
  const { atMs, record } = recorder(tx, who, clock);
  const member: Member = {
    workspaceId,
    id: userId,
    firstName,
    lastName,
    email,
    role,
    kycStatus,
    joinedAtMs: atMs,
    removedAtMs: null,
  };
  const after = memberView(member);
  await tx.putMember(member);
  await record('member.add', workspaceId, userId, null, after);
  return after;
}

/** A lower role lowers the member's keys. Throws 409 for the last owner. */
export async function writeMemberChange(
  tx: AdminTx,
  { clock }: MemberDeps,
  who: string,
  { member: before, others }: Among,
  change: MemberChange,
): Promise<MemberView> {
  const { workspaceId, id } = before;
  const member: Member = { ...before, ...withoutHoles(change) };
  requireFreeEmail(others, member.email);
  if (before.role === 'owner' && member.role !== 'owner') requireOwner(others);
  const { record } = recorder(tx, who, clock);
  const after = memberView(member);
  await tx.putMember(member);
  await record('member.set', workspaceId, id, memberView(before), after);
  for (const key of await tx.keysOf(workspaceId, id)) {
    if (key.role === null || !outranks(key.role, member.role)) continue;
    await tx.setKeyRole(key.id, member.role);
    await record('key.lower', workspaceId, key.id, keyView(key), keyView({ ...key, role: member.role }));
    await tx.announce(KEYS_TOPIC, key.id);
  }
  return after;
}

/** Revokes the member's keys. Throws 409 for the last owner. */
export async function writeMemberRemoval(
  tx: AdminTx,
  { clock }: MemberDeps,
  who: string,
  { member: before, others }: Among,
): Promise<MemberView> {
  const { workspaceId, id } = before;
  if (before.role === 'owner') requireOwner(others);
  const { atMs, record } = recorder(tx, who, clock);
  const member: Member = { ...before, removedAtMs: atMs };
  const after = memberView(member);
  await tx.putMember(member);
  await record('member.remove', workspaceId, id, memberView(before), after);
  for (const key of await tx.keysOf(workspaceId, id)) {
    await tx.revokeKey(key.id, atMs);
    await record('key.revoke', workspaceId, key.id, keyView(key), keyView({ ...key, revokedAtMs: atMs }));
    await tx.announce(KEYS_TOPIC, key.id);
  }
  return after;
}

function requireFreeEmail(others: readonly Member[], email: string) {
  if (others.some((one) => one.removedAtMs === null && one.email.toLowerCase() === email.toLowerCase()))
    throw conflict('Another member of this workspace has this address.');
}

function requireOwner(others: readonly Member[]) {
  if (!others.some(({ role }) => role === 'owner'))
    throw conflict('This is the last owner of the workspace. Make another member an owner first.');
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
const withoutHoles = <T extends object>(change: T): Present<T> =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Present<T>;
