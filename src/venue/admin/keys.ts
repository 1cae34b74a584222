/** API keys: issued with the least rights, and revoked on every replica. */

import type { AdminTx } from '../../ports/stores/admin-store.ts';
import type { ApiKey, Role } from '../../ports/stores/store.ts';
import type { KeyView, NewKeyRequest } from '../../protocol/admin/admin.ts';
import { invalid } from '../../protocol/errors.ts';
import { KEYS_TOPIC, mintKey } from '../access/keys.ts';
import { type AdminDeps, knownWorkspace, missing, recorder } from './change.ts';
import { outranks } from './members.ts';
import { keyView } from './views.ts';

export interface KeyAdmin {
  list(filter?: {
    workspaceId?: string | undefined;
    solverId?: string | undefined;
    /** Only keys that were not revoked. */
    live?: boolean | undefined;
  }): Promise<KeyView[]>;
  /** Throws 404 for an unknown workspace, member or solver, 422 for an impossible key. */
  issue(who: string, wanted: NewKeyRequest): Promise<{ key: KeyView; text: string }>;
  /** Throws 404 when there is no such live key. */
  revoke(who: string, id: string): Promise<KeyView>;
}

export function createKeyAdmin({ store, venue, clock, random }: AdminDeps): KeyAdmin {
  return {
    async list({ workspaceId, solverId, live } = {}) {
      const keys = await venue.listKeys();
      return keys
        .filter(
          (key) =>
            (workspaceId === undefined || key.workspaceId === workspaceId) &&
            (solverId === undefined || key.solverId === solverId) &&
            (!live || key.revokedAtMs === null),
        )
        .map(keyView);
    },
    async issue(who, wanted) {
      requireShape(wanted);
      return store.change(async (tx) => {
        const { key, text } = await issueKey(tx, { clock, random }, who, wanted);
        return { key: keyView(key), text };
      });
    },
    revoke: (who, id) =>
      store.change(async (tx) => {
        const key = await tx.key(id);
        if (!key || key.revokedAtMs !== null) throw missing('live key', id);
        return revokeKey(tx, { clock }, who, key);
      }),
  };
}

/** Throws 404 for an unknown workspace, member or solver, 422 for a role above the member's. */
export async function issueKey(
  tx: AdminTx,
  { clock, random }: Pick<AdminDeps, 'clock' | 'random'>,
  who: string,
  wanted: NewKeyRequest,
): Promise<{ key: ApiKey; text: string }> {
  const { kind, mode, workspaceId = null, memberId = null, solverId = null, label } = wanted;
  if (solverId !== null && !(await tx.solver(solverId))) throw missing('solver', solverId);
  const role = workspaceId === null ? null : await roleOf(tx, workspaceId, wanted);
  const { text, record: key } = mintKey(
    { random, clock },
    { kind, mode, workspaceId, role, memberId, solverId, label },
  );
  await tx.addKey(key);
  await recorder(tx, who, clock).record('key.issue', workspaceId, key.id, null, keyView(key));
  return { key, text };
}

/** Revokes a live key on every replica. */
export async function revokeKey(
  tx: AdminTx,
  { clock }: Pick<AdminDeps, 'clock'>,
  who: string,
  key: ApiKey,
): Promise<KeyView> {
  const { atMs, record } = recorder(tx, who, clock);
  const after = keyView({ ...key, revokedAtMs: atMs });
  await tx.revokeKey(key.id, atMs);
  await record('key.revoke', key.workspaceId, key.id, keyView(key), after);
  await tx.announce(KEYS_TOPIC, key.id);
  return after;
}

/** A member's key has the member's role or a lower one. */
async function roleOf(
  tx: AdminTx,
  workspaceId: string,
  { kind, role, memberId }: NewKeyRequest,
): Promise<Role | null> {
  await knownWorkspace(tx, workspaceId);
  const member =
    memberId === undefined
      ? undefined
      : (await tx.members(workspaceId)).find(
          ({ id, removedAtMs }) => id === memberId && removedAtMs === null,
        );
  if (memberId !== undefined && !member) throw missing('member', memberId);
  if (kind !== 'workspace') return null;
  if (member && role && outranks(role, member.role))
    throw invalid(
      'value_error',
      ['body', 'role'],
      `This member is ${member.role}: a key of theirs cannot be ${role}.`,
    );
  return role ?? member?.role ?? 'viewer';
}

function requireShape({ kind, workspaceId, role, memberId, solverId }: NewKeyRequest) {
  const refuse = (field: string, why: string): never => {
    throw invalid('value_error', ['body', field], why);
  };
  if (kind === 'solver') {
    if (solverId === undefined) refuse('solverId', 'A solver key belongs to an onboarded solver: name it.');
    if (workspaceId !== undefined) refuse('workspaceId', 'A solver key belongs to no workspace.');
    if (memberId !== undefined) refuse('memberId', 'A solver key belongs to no member.');
  } else {
    if (workspaceId === undefined) refuse('workspaceId', `A ${kind} key belongs to a workspace: name it.`);
    if (solverId !== undefined) refuse('solverId', `A ${kind} key belongs to no solver.`);
  }
  if (role !== undefined && kind !== 'workspace') refuse('role', 'Only workspace keys have a role.');
}
