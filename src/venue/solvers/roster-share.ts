/** Exchanges the status of solvers between replicas. */

import type { RosterStatus } from '../../ports/stores/store.ts';
import { MAX_UPDATE_BYTES, type PeerUpdate, type ReplicaShare } from '../replicas/peers.ts';
import { applyPresence, type RosterDeps, type RosterState, update } from './roster-status.ts';

export function replicaShare(deps: RosterDeps, state: RosterState): ReplicaShare {
  return {
    name: 'roster',
    updates(all): PeerUpdate[] {
      const updates = [...state.faults].map(([solverId, count]): PeerUpdate => [solverId, 'invalid', count]);
      state.faults.clear();
      for (const { id, status, corridors, note, firstSeenAtMs } of state.entries.values()) {
        if ((all && status !== 'offline') || state.changed.has(id))
          updates.push([
            id,
            status,
            fitting([...corridors], note),
            (note ?? '').slice(0, 500),
            firstSeenAtMs ?? 0,
          ]);
      }
      state.changed.clear();
      return updates;
    },
    apply(replica, [solverId, what, of, note, firstSeenAtMs]) {
      const entry = state.entries.get(solverId);
      if (!entry) return;
      if (what !== 'invalid') {
        entry.firstSeenAtMs = earlier(entry.firstSeenAtMs, Number(firstSeenAtMs) || null);
        return applyPresence(deps, state, solverId, replica, {
          status: what as RosterStatus,
          corridors: of === '' ? null : String(of).split(' '),
          note: note === '' ? null : String(note),
        });
      }
      for (let count = Number(of); count > 0; count--) entry.breaker.fault('invalid', deps.clock.nowMs());
      update(deps, state, entry);
    },
    peerGone(replica) {
      for (const { id } of state.entries.values()) applyPresence(deps, state, id, replica, undefined);
    },
  };
}

/** Returns the corridors as text; empty when too long for one update. */
function fitting(corridors: readonly string[], note: string | null): string {
  const all = corridors.join(' ');
  return all.length + 3 * (note?.length ?? 0) > MAX_UPDATE_BYTES / 2 ? '' : all;
}

/** Two replicas may record the first sight concurrently. */
export const earlier = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);
