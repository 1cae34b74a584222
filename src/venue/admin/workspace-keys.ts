/** Manages the keys of a workspace: all its members see them; its owners and admins issue and revoke them. */

import { toIso } from '../../domain/time.ts';
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
import {
  BY_KEY,
  changeAsManager,
  manages,
  nowhere,
  requireManager,
  requireOwn,
} from './workspace-manager.ts';

/** Each key has limits of its own, so that a workspace does not issue itself as many as it likes. */
const MAX_LIVE_KEYS = 25;

const ABOUT = { what: 'valid key', doing: 'Issuing and revoking keys' };

export interface WorkspaceKeys {
  /** Owners and admins also see whose keys they are. */
  list(key: ApiKey, workspaceId: string): Promise<{ keys: WorkspaceKeyView[]; limit: number }>;
  /** Throws 409 at the limit, 422 for a role above the caller's. */
  issue(
    key: ApiKey,
    workspaceId: string,
    wanted: NewWorkspaceKey,
  ): Promise<{ key: WorkspaceKeyView; text: string }>;
  /**
   * Revokes a key of the workspace; it may be the caller's own. Throws 404 when there is no such valid key,
   * 403 for a key of a higher role.
   */
  revoke(key: ApiKey, workspaceId: string, keyId: string): Promise<{ id: string }>;
}

export function createWorkspaceKeys({
  adminStore,
  store,
  clock,
  random,
  log,
}: Pick<VenueDeps, 'adminStore' | 'store' | 'clock' | 'random' | 'log'>): WorkspaceKeys {
  return {
    async list(key, workspaceId) {
      requireOwn(key, workspaceId, ABOUT.what);
      const keys = await store.keysInUse(workspaceId, key.mode);
      const members = manages(key) ? await store.listMembers(workspaceId) : undefined;
      return { keys: keys.map((each) => view(each, members)), limit: MAX_LIVE_KEYS };
    },
    async issue(key, workspaceId, { kind, role, label }) {
      requireManager(key, workspaceId, ABOUT);
      if (kind === 'service' && role !== undefined)
        throw invalid('value_error', ['body', 'role'], 'Only workspace keys have a role.');
      const { key: issued, text } = await changeAsManager(
        adminStore,
        key,
        workspaceId,
        ABOUT,
        async (tx, caller) => {
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
          return issueKey(tx, { clock, random }, BY_KEY + caller.id, {
            kind,
            mode: caller.mode,
            workspaceId,
            label,
            ...(kind === 'workspace' && { role: role ?? 'viewer' }),
            ...(caller.memberId !== null && { memberId: caller.memberId }),
          });
        },
      );
      log.info({ workspace: workspaceId, key: key.id, issued: issued.id }, 'a workspace issued a key');
      const members = await store.listMembers(workspaceId);
      return { key: view({ ...issued, lastUsedAtMs: null, issuer: BY_KEY + key.id }, members), text };
    },
    async revoke(key, workspaceId, keyId) {
      requireManager(key, workspaceId, ABOUT);
      await changeAsManager(adminStore, key, workspaceId, ABOUT, async (tx, caller) => {
        const found = await tx.key(keyId);
        if (found?.workspaceId !== workspaceId || found.mode !== caller.mode || found.revokedAtMs !== null)
          throw nowhere(ABOUT.what);
        if (found.role !== null && caller.role !== null && outranks(found.role, caller.role))
          throw new ApiError(
            'wrong_key_kind',
            `This key has the role ${found.role}, and yours is ${caller.role}: it cannot revoke it.`,
          );
        await revokeKey(tx, { clock }, BY_KEY + caller.id, found);
      });
      log.info({ workspace: workspaceId, key: key.id, revoked: keyId }, 'a workspace revoked a key');
      return { id: keyId };
    },
  };
}

/** The view names the key's user only when `members` is given. */
function view(key: KeyInUse, members: readonly Member[] | undefined): WorkspaceKeyView {
  const { id, kind, mode, begins, role, label, createdAt } = keyView(key);
  const member = members?.find((one) => one.id === key.memberId);
  return {
    ...{ id, kind: kind as WorkspaceKeyView['kind'], mode, begins, role, label, createdAt },
    lastUsedAt: key.lastUsedAtMs === null ? null : toIso(key.lastUsedAtMs),
    // The operator's own names stay at the venue.
    issuedBy: key.issuer?.startsWith(BY_KEY) ? key.issuer.slice(BY_KEY.length) : null,
    ...(members && {
      member: member ? { userId: member.id, firstName: member.firstName, lastName: member.lastName } : null,
    }),
  };
}
