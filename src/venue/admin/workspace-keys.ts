/** The keys of a workspace: everybody in it sees them; its owners and admins issue and revoke them. */

import { toIso } from '../../domain/time.ts';
import type { AdminTx } from '../../ports/stores/admin-store.ts';
import type { KeyInUse } from '../../ports/stores/key-uses.ts';
import type { Member } from '../../ports/stores/members.ts';
import type { ApiKey } from '../../ports/stores/store.ts';
import type { NewWorkspaceKey, WorkspaceKeyView } from '../../protocol/admin/admin.ts';
import { ApiError, invalid } from '../../protocol/errors.ts';
import type { VenueDeps } from '../deps.ts';
import { conflict } from './change.ts';
import { issueKey, revokeKey } from './keys.ts';
import { outranks } from './members.ts';
import { keyView } from './views.ts';

/** Each key has limits of its own, so that a workspace does not issue itself as many as it likes. */
const MAX_LIVE_KEYS = 25;

export type WorkspaceKeys = ReturnType<typeof createWorkspaceKeys>;

/** Also for the key of another workspace or mode. */
const nowhere = () => new ApiError('not_found', 'No such workspace or valid key.');

/** In the audit log; `issuedBy` reads it back. */
const WHO = 'key:';

export function createWorkspaceKeys({
  adminStore,
  store,
  clock,
  random,
  log,
}: Pick<VenueDeps, 'adminStore' | 'store' | 'clock' | 'random' | 'log'>) {
  /** Checks the key as it was read with the request, and again as it is in the transaction. */
  async function change<T>(
    { id }: ApiKey,
    workspaceId: string,
    work: (tx: AdminTx, caller: ApiKey) => Promise<T>,
  ): Promise<T> {
    return adminStore.change(async (tx) => {
      const caller = await tx.key(id);
      if (!caller || caller.revokedAtMs !== null)
        throw new ApiError('unauthorized', 'This needs a valid API key in the X-API-Key header.');
      requireManager(caller, workspaceId);
      return work(tx, caller);
    });
  }

  return {
    async list(key: ApiKey, workspaceId: string) {
      requireOwn(key, workspaceId);
      const keys = await store.keysInUse(workspaceId, key.mode);
      const members = manages(key) ? await store.listMembers(workspaceId) : undefined;
      return { keys: keys.map((each) => view(each, members)), limit: MAX_LIVE_KEYS };
    },
    /** Throws 409 at the limit, 422 for a role above the caller's. */
    async issue(key: ApiKey, workspaceId: string, { kind, role, label }: NewWorkspaceKey) {
      requireManager(key, workspaceId);
      if (kind === 'service' && role !== undefined)
        throw invalid('value_error', ['body', 'role'], 'Only workspace keys have a role.');
      const { key: issued, text } = await change(key, workspaceId, async (tx, caller) => {
        if (role !== undefined && caller.role !== null && outranks(role, caller.role))
          throw invalid(
            'value_error',
            ['body', 'role'],
            `Your key is ${caller.role}: it cannot issue a key with the role ${role}.`,
          );
        if ((await tx.countLiveKeys(workspaceId, caller.mode)) >= MAX_LIVE_KEYS)
          throw conflict(
            `This workspace has ${MAX_LIVE_KEYS} valid ${caller.mode} keys, which is the limit. Revoke one first.`,
          );
        return issueKey(tx, { clock, random }, WHO + caller.id, {
          kind,
          mode: caller.mode,
          workspaceId,
          label,
          ...(kind === 'workspace' && { role: role ?? 'viewer' }),
          ...(caller.memberId !== null && { memberId: caller.memberId }),
        });
      });
      log.info({ workspace: workspaceId, key: key.id, issued: issued.id }, 'a workspace issued a key');
      const members = await store.listMembers(workspaceId);
      return { key: view({ ...issued, lastUsedAtMs: null, issuer: WHO + key.id }, members), text };
    },
    /** Also the caller's own. Throws 404 when there is no such valid key, 403 for one of a higher role. */
    async revoke(key: ApiKey, workspaceId: string, keyId: string) {
      requireManager(key, workspaceId);
      await change(key, workspaceId, async (tx, caller) => {
        const found = await tx.key(keyId);
        if (found?.workspaceId !== workspaceId || found.mode !== caller.mode || found.revokedAtMs !== null)
          throw nowhere();
        if (found.role !== null && caller.role !== null && outranks(found.role, caller.role))
          throw new ApiError(
            'wrong_key_kind',
            `This key has the role ${found.role}, and yours is ${caller.role}: it cannot revoke it.`,
          );
        await revokeKey(tx, { clock }, WHO + caller.id, found);
      });
      log.info({ workspace: workspaceId, key: key.id, revoked: keyId }, 'a workspace revoked a key');
      return { id: keyId };
    },
  };
}

const manages = ({ role }: ApiKey): boolean => role === 'owner' || role === 'admin';

function requireOwn(key: ApiKey, workspaceId: string): void {
  if (key.workspaceId !== workspaceId) throw nowhere();
}

function requireManager(key: ApiKey, workspaceId: string): void {
  requireOwn(key, workspaceId);
  if (!manages(key))
    throw new ApiError(
      'wrong_key_kind',
      `Issuing and revoking keys needs a workspace key with the role owner or admin; the one sent is ${key.role ?? 'without role'}.`,
    );
}

/** Without `members`, it does not say who uses the key. */
function view(key: KeyInUse, members: readonly Member[] | undefined): WorkspaceKeyView {
  const { id, kind, mode, begins, role, label, createdAt } = keyView(key);
  const member = members?.find((one) => one.id === key.memberId);
  return {
    ...{ id, kind: kind as WorkspaceKeyView['kind'], mode, begins, role, label, createdAt },
    lastUsedAt: key.lastUsedAtMs === null ? null : toIso(key.lastUsedAtMs),
    // The operator's own names stay at the venue.
    issuedBy: key.issuer?.startsWith(WHO) ? key.issuer.slice(WHO.length) : null,
    ...(members && {
      member: member ? { userId: member.id, firstName: member.firstName, lastName: member.lastName } : null,
    }),
  };
}
