/** The status of each solver: at this replica, and the best of all replicas, which takers see. */

import { toIso } from '../../domain/time.ts';
import type { KeyMode, RosterStatus, RosterTransition, SolverStore } from '../../ports/stores/store.ts';
import type { Counter } from '../../ports/metrics.ts';
import type { VenueDeps } from '../deps.ts';
import type { Buckets } from '../access/token-buckets.ts';
import type { BreakerOptions } from '../options.ts';
import type { PeerPublisher } from '../replicas/peers.ts';
import type { Presence, RosterEntry } from './roster-entry.ts';

const SHADOW_NOTE = 'shadow: prices requests and signs nothing';

export const STATUS_VALUE: Record<RosterStatus, number> = { offline: 0, standby: 1, active: 2 };

/**
 * `here`: the status changed at this replica. `elsewhere`: another replica told of the change, or went away.
 */
export type Seen = 'here' | 'elsewhere';

export type RosterDeps = Pick<VenueDeps, 'bus' | 'clock' | 'log' | 'metrics'> & {
  store: SolverStore;
  peers: PeerPublisher;
  /** The corridors that keys of each mode trade on. */
  corridors: Readonly<Record<KeyMode, readonly string[]>>;
};

/** The solvers, the listeners for changes, and the changes since the last update to other replicas. */
export interface RosterState {
  readonly breakerOptions: BreakerOptions;
  readonly entries: Map<string, RosterEntry>;
  readonly allCorridors: readonly string[];
  readonly corridorsIn: Readonly<Record<KeyMode, ReadonlySet<string>>>;
  readonly listeners: Set<(entry: RosterEntry, transition: RosterTransition) => void>;
  readonly watchers: Set<(entry: RosterEntry, atMs: number, seen: Seen) => void>;
  readonly newcomers: Set<(solverId: string) => void>;
  readonly statusChanges: Buckets;
  /** Solvers of which the other replicas have not been told since their last change. */
  readonly changed: Set<string>;
  /** Invalid answers of each solver since the last update. */
  readonly faults: Map<string, number>;
  /** The wall time at which each solver's last quote was stored, in milliseconds. */
  readonly quotedWrittenAt: Map<string, number>;
  unsubscribe: (() => Promise<void>) | undefined;
  cancelTick: () => void;
  ticks: number;
  readonly transitions: Counter;
  /** The corridors of each solver's record; null: all. */
  readonly onboarded: Map<string, readonly string[] | null>;
}

/** Returns the status of a solver at this replica, and why. */
function assess(
  deps: RosterDeps,
  { disabled, session, shadows, breaker }: RosterEntry,
): { status: RosterStatus; reason: string; note: string | null } {
  if (disabled) return { status: 'offline', reason: 'disabled by the venue', note: 'Disabled by the venue.' };
  if (!session && shadows.length > 0) return { status: 'standby', reason: SHADOW_NOTE, note: SHADOW_NOTE };
  if (!session) return { status: 'offline', reason: 'not connected', note: null };
  const until = breaker.openUntil(deps.clock.nowMs());
  if (until !== undefined) {
    const why =
      breaker.reason() === 'fade' ? 'failed orders it had committed to' : 'gave answers that do not hold';
    return {
      status: 'standby',
      reason: `breaker open: ${why}`,
      note: `Resting until ${toIso(until)}: ${why}.`,
    };
  }
  return session.status === 'active'
    ? { status: 'active', reason: 'pricing', note: session.note }
    : { status: 'standby', reason: session.note ?? 'says standby', note: session.note };
}

/** Returns the best status of all replicas. `disabled` is the same on all of them. */
export function shownStatus({ status, corridors, note, disabled, elsewhere }: RosterEntry): {
  status: RosterStatus;
  corridors: Iterable<string>;
  note: string | null;
} {
  let best: { status: RosterStatus; corridors: Iterable<string>; note: string | null } = {
    status,
    corridors,
    note,
  };
  if (!disabled)
    for (const presence of elsewhere.values())
      if (STATUS_VALUE[presence.status] > STATUS_VALUE[best.status])
        best = { ...presence, corridors: presence.corridors ?? corridors };
  return best;
}

/** Assesses a solver again, and tells of a change. */
export function update(deps: RosterDeps, state: RosterState, entry: RosterEntry, why?: string): void {
  const { status, reason, note } = assess(deps, entry);
  const was = shownStatus(entry).status;
  const before = entry.note;
  entry.note = note ?? (status === 'offline' && why ? why : null);
  if (entry.note !== before) state.changed.add(entry.id);
  if (status === entry.status) return;
  const transition: RosterTransition = {
    solverId: entry.id,
    from: entry.status,
    to: status,
    reason: why ?? reason,
    atMs: deps.clock.nowMs(),
  };
  entry.status = status;
  state.changed.add(entry.id);
  deps.peers.publishSoon();
  state.transitions.add({ solver: entry.id, to: status });
  deps.log.info({ solver: entry.id, from: transition.from, to: status, reason: transition.reason }, 'roster');
  for (const listener of state.listeners) listener(entry, transition);
  if (shownStatus(entry).status === was) return;
  deps.store
    .addTransition(transition)
    .catch((error: unknown) =>
      deps.log.warn({ solver: entry.id, error }, 'a roster transition could not be stored'),
    );
  notifyShown(deps, state, entry, 'here');
}

function notifyShown(deps: RosterDeps, state: RosterState, entry: RosterEntry, seen: Seen): void {
  const atMs = deps.clock.nowMs();
  for (const watcher of state.watchers) watcher(entry, atMs, seen);
}

export function applyPresence(
  deps: RosterDeps,
  state: RosterState,
  solverId: string,
  replica: string,
  presence: Presence | undefined,
): void {
  const entry = state.entries.get(solverId);
  if (!entry) return;
  const was = shownStatus(entry).status;
  if (presence) entry.elsewhere.set(replica, presence);
  else entry.elsewhere.delete(replica);
  if (shownStatus(entry).status !== was) notifyShown(deps, state, entry, 'elsewhere');
}
