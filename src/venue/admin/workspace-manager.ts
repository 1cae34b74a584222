/** Owners and admins of a workspace change it by their keys; the audit log names the key. */

import type { AdminStore, AdminTx } from '../../ports/stores/admin-store.ts';
import type { ApiKey } from '../../ports/stores/store.ts';
import { ApiError } from '../../protocol/errors.ts';

/** The audit log writes this before the id of the key that made a change. */
export const BY_KEY = 'key:';

export const manages = ({ role }: ApiKey): boolean => role === 'owner' || role === 'admin';

/**
 * Refuses what is missing, and what belongs to another workspace or mode, in the same words. `what` names it.
 */
export const nowhere = (what: string): ApiError => new ApiError('not_found', `No such workspace or ${what}.`);

export function requireOwn(key: ApiKey, workspaceId: string, what: string): void {
  if (key.workspaceId !== workspaceId) throw nowhere(what);
}

/** `doing`: what a manager does, at the start of a sentence. */
export function requireManager(
  key: ApiKey,
  workspaceId: string,
  { what, doing }: { what: string; doing: string },
): void {
  requireOwn(key, workspaceId, what);
  if (!manages(key))
    throw new ApiError(
      'wrong_key_kind',
      `${doing} needs a workspace key with the role owner or admin; the one sent is ${key.role ?? 'without role'}.`,
    );
}

/** Checks the key again as it is in the transaction: meanwhile it may have been lowered or revoked. */
export const changeAsManager = <T>(
  adminStore: AdminStore,
  { id }: ApiKey,
  workspaceId: string,
  about: { what: string; doing: string },
  work: (tx: AdminTx, caller: ApiKey) => Promise<T>,
): Promise<T> =>
  adminStore.change(async (tx) => {
    const caller = await tx.key(id);
    if (!caller || caller.revokedAtMs !== null)
      throw new ApiError('unauthorized', 'This needs a valid API key in the X-API-Key header.');
    requireManager(caller, workspaceId, about);
    return work(tx, caller);
  });
