/** Caches workspaces, so that only the first quote of one needs the database. */

import type { ApiKey, Workspace, WorkspaceStore } from '../../ports/stores/store.ts';
import { ApiError } from '../../protocol/errors.ts';
import type { VenueDeps } from '../deps.ts';
import type { FeeCap } from '../market/fee-cap.ts';
import { createReadThroughCache } from './read-through-cache.ts';

export const WORKSPACES_TOPIC = 'workspaces';

export interface Workspaces {
  /** Returns the key's workspace, with its fee capped to what every escrow takes. Throws 403 without one. */
  of(key: ApiKey): Promise<Workspace>;
  /** Calls the listener when any workspace may have changed. */
  onChange(listener: () => void): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createWorkspaces({
  store,
  bus,
  clock,
  feeCap,
}: Pick<VenueDeps, 'bus' | 'clock'> & { store: WorkspaceStore; feeCap: FeeCap }): Workspaces {
  const cache = createReadThroughCache({ bus, clock, topic: WORKSPACES_TOPIC, read });

  async function read(id: string): Promise<Workspace> {
    const workspace = await store.workspace(id);
    if (!workspace)
      throw new ApiError(
        'wrong_key_kind',
        'The workspace of this key no longer exists. Ask the operator of the venue for a new key.',
      );
    return workspace;
  }

  const withFee = (workspace: Workspace): Workspace => {
    const platformFeeBps = feeCap.cap(workspace.platformFeeBps);
    return platformFeeBps === workspace.platformFeeBps ? workspace : { ...workspace, platformFeeBps };
  };

  return {
    async of(key: ApiKey): Promise<Workspace> {
      if (key.workspaceId === null)
        throw new ApiError(
          'wrong_key_kind',
          'This key belongs to no workspace, so it cannot trade. Ask the operator of the venue for one that does.',
        );
      return withFee(await cache.get(key.workspaceId));
    },
    onChange: cache.onChange,
    start: cache.start,
    stop: cache.stop,
  };
}
