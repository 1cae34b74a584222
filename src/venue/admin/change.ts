/** Names what an administrator's change needs, and writes its audit entry. */

import type { AdminEntry, AdminStore, AdminSubject, AdminTx } from '../../ports/stores/admin-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Random } from '../../ports/random.ts';
import type { Workspace } from '../../ports/stores/store.ts';
import type { VenueStore } from '../../ports/stores/venue-store.ts';
import { ApiError } from '../../protocol/errors.ts';

export interface AdminDeps {
  store: AdminStore;
  venue: Pick<VenueStore, 'listWorkspaces' | 'workspace' | 'listMembers' | 'listKeys' | 'listSolvers'>;
  clock: Clock;
  random: Random;
  /** Throws `UpstreamError` when a chain does not answer. */
  feeCaps(): Promise<readonly { slug: string; maxFeeBps: number }[]>;
}

export function recorder(tx: AdminTx, who: string, clock: Clock) {
  const atMs = clock.nowMs();
  return {
    atMs,
    record: (
      what: AdminEntry['what'],
      workspaceId: string | null,
      subjectId: string,
      before: AdminEntry['before'],
      after: AdminEntry['after'],
    ): Promise<void> => {
      const subject = what.split('.')[0] as AdminSubject;
      return tx.record({ atMs, who, what, workspaceId, subject, subjectId, before, after });
    },
  };
}

export const missing = (what: string, id: string): ApiError =>
  new ApiError('not_found', `There is no ${what} "${id}".`);
export const conflict = (message: string): ApiError => new ApiError('conflict', message);

export async function knownWorkspace(tx: AdminTx, id: string): Promise<Workspace> {
  const workspace = await tx.workspace(id);
  if (!workspace) throw missing('workspace', id);
  return workspace;
}
