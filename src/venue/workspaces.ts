/** Workspaces remembered for the hot path: fee, eligible solvers and limits without a database read per quote. */

import type { Bus } from '../ports/bus.ts';
import type { Clock } from '../ports/clock.ts';
import type { ApiKey, Workspace, WorkspaceStore } from '../ports/store.ts';
import { ApiError } from '../protocol/errors.ts';

/** Bus topic: a workspace changed. */
export const WORKSPACES_TOPIC = 'workspaces';
const REMEMBER_MS = 10_000;

export interface Workspaces {
  /** The workspace a key belongs to. Synchronous when it is remembered. Throws 403 for a key without one. */
  of(key: ApiKey): Workspace | Promise<Workspace>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createWorkspaces({ store, bus, clock }: { store: WorkspaceStore; bus: Bus; clock: Clock }): Workspaces {
  const known = new Map<string, { workspace: Workspace; untilMs: number }>();
  let unsubscribe: (() => Promise<void>) | undefined;

  async function read(id: string): Promise<Workspace> {
    const workspace = await store.workspace(id);
    if (!workspace) throw new ApiError('wrong_key_kind', 'The workspace of this key no longer exists. Ask the operator of the venue for a new key.');
    known.set(id, { workspace, untilMs: clock.monotonicMs() + REMEMBER_MS });
    return workspace;
  }

  return {
    of(key) {
      if (key.workspaceId === null) throw new ApiError('wrong_key_kind', 'This key belongs to no workspace, so nothing can be traded with it. Ask the operator of the venue for one that does.');
      const remembered = known.get(key.workspaceId);
      return remembered && clock.monotonicMs() < remembered.untilMs ? remembered.workspace : read(key.workspaceId);
    },
    async start() {
      unsubscribe = await bus.subscribe(WORKSPACES_TOPIC, () => known.clear());
    },
    async stop() {
      await unsubscribe?.();
    },
  };
}
