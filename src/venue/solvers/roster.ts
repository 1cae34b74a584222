/**
 * Which solvers can be asked now, and why others cannot. A solver is asked over its connection to this
 * replica; its public status is the best of all replicas.
 */

import type { Entrant } from '../../auction/eligible.ts';
import type { Address } from '../../domain/hex.ts';
import { toIso } from '../../domain/time.ts';
import type {
  KeyMode,
  RosterStatus,
  RosterTransition,
  SolverRecord,
  SolverStore,
} from '../../ports/stores/store.ts';
import type { Solver } from '../../protocol/api/roster.ts';
import type { VenueDeps } from '../deps.ts';
import { createBuckets } from '../access/token-buckets.ts';
import { type Breaker, createBreaker, type SolverFault } from './breaker.ts';
import type { BreakerOptions } from '../options.ts';
import {
  MAX_UPDATE_BYTES,
  type PeerPublisher,
  type PeerUpdate,
  type ReplicaShare,
} from '../replicas/peers.ts';

export const SOLVERS_TOPIC = 'solvers';

export interface SolverSession {
  readonly solverId: string;
  /** Absent when the solver has only one. */
  readonly replica?: string | undefined;
  /** It proved no account: it is shown requests and outcomes, and nothing it answers counts. */
  readonly shadow: boolean;
  /** The mode of its key: only requests and orders of this mode are sent to it. */
  readonly mode: KeyMode;
  readonly accounts: ReadonlyMap<number, { account: Address; operator: Address }>;
  readonly corridors: readonly string[];
  readonly maxInFlight: number;
  status: 'active' | 'standby';
  note: string | null;
  inFlight: number;
  readsInTime(): boolean;
  send(text: string | Buffer): void;
  /** Like `send`, of a frame that asks for no answer. */
  notify(text: string): void;
  end(code: number, reason: string): void;
}

export interface RosterEntry extends Entrant {
  readonly id: string;
  name: string;
  kind: 'lp' | 'solver';
  status: RosterStatus;
  corridors: ReadonlySet<string>;
  note: string | null;
  disabled: boolean;
  firstSeenAtMs: number | null;
  lastQuoteAtMs: number | null;
  /** An active one if there is any. */
  session: SolverSession | undefined;
  sessions: readonly SolverSession[];
  /** Never among `sessions`: they are no reason to ask this solver, nor to wait for it. */
  shadows: readonly SolverSession[];
  breaker: Breaker;
  settled: number;
  faded: number;
  elsewhere: Map<string, Presence>;
}

interface Presence {
  status: RosterStatus;
  /** null when too long to send; then the onboarded ones are shown. */
  corridors: readonly string[] | null;
  note: string | null;
}

export type Roster = ReturnType<typeof createRoster>;

/** Whether a status changed at this replica, or another replica told of it or went away. */
type Seen = 'here' | 'elsewhere';

const SHADOW_NOTE = 'shadow: prices requests and signs nothing';
const QUOTED_WRITE_MS = 10_000;
const TICK_MS = 1_000;
/** Changes of `status` that count at once; the next tick takes the latest of further ones. */
const STATUS_CHANGES = { perSecond: 0.5, burst: 8 };
const RELOAD_TICKS = 30;
const STATUS_VALUE: Record<RosterStatus, number> = { offline: 0, standby: 1, active: 2 };

export function createRoster(
  {
    store,
    bus,
    clock,
    log,
    metrics,
    corridors: known,
    peers,
  }: Pick<VenueDeps, 'bus' | 'clock' | 'log' | 'metrics'> & {
    store: SolverStore;
    peers: PeerPublisher;
    corridors: Readonly<Record<KeyMode, readonly string[]>>;
  },
  breakerOptions: BreakerOptions,
) {
  const entries = new Map<string, RosterEntry>();
  const allCorridors = [...known.test, ...known.live];
  const corridorsIn = { test: new Set(known.test), live: new Set(known.live) };
  const listeners = new Set<(entry: RosterEntry, transition: RosterTransition) => void>();
  const watchers = new Set<(entry: RosterEntry, atMs: number, seen: Seen) => void>();
  const newcomers = new Set<(solverId: string) => void>();
  const statusChanges = createBuckets(clock, STATUS_CHANGES);
  const changed = new Set<string>();
  const faults = new Map<string, number>();
  const quotedWrittenAt = new Map<string, number>();
  let unsubscribe: (() => Promise<void>) | undefined;
  let cancelTick = () => {};
  let ticks = 0;

  metrics.gauge(
    'firmquote_venue_roster_status',
    'Solver status: 0 offline, 1 standby, 2 active',
    ['solver'],
    (gauge) => {
      for (const entry of entries.values()) gauge.set(STATUS_VALUE[entry.status], { solver: entry.id });
    },
  );
  const transitions = metrics.counter('firmquote_venue_roster_transitions_total', 'Roster transitions', [
    'solver',
    'to',
  ]);

  function assess({ disabled, session, shadows, breaker }: RosterEntry): {
    status: RosterStatus;
    reason: string;
    note: string | null;
  } {
    if (disabled)
      return { status: 'offline', reason: 'disabled by the venue', note: 'Disabled by the venue.' };
    if (!session && shadows.length > 0) return { status: 'standby', reason: SHADOW_NOTE, note: SHADOW_NOTE };
    if (!session) return { status: 'offline', reason: 'not connected', note: null };
    const until = breaker.openUntil(clock.nowMs());
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

  /** `disabled` is the same on all replicas. */
  function shown({ status, corridors, note, disabled, elsewhere }: RosterEntry): {
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

  function update(entry: RosterEntry, why?: string) {
    const { status, reason, note } = assess(entry);
    const was = shown(entry).status;
    const before = entry.note;
    entry.note = note ?? (status === 'offline' && why ? why : null);
    if (entry.note !== before) changed.add(entry.id);
    if (status === entry.status) return;
    const transition: RosterTransition = {
      solverId: entry.id,
      from: entry.status,
      to: status,
      reason: why ?? reason,
      atMs: clock.nowMs(),
    };
    entry.status = status;
    changed.add(entry.id);
    peers.publishSoon();
    transitions.add({ solver: entry.id, to: status });
    log.info({ solver: entry.id, from: transition.from, to: status, reason: transition.reason }, 'roster');
    for (const listener of listeners) listener(entry, transition);
    if (shown(entry).status === was) return;
    store
      .addTransition(transition)
      .catch((error: unknown) =>
        log.warn({ solver: entry.id, error }, 'a roster transition could not be stored'),
      );
    notifyShown(entry, 'here');
  }

  function notifyShown(entry: RosterEntry, seen: Seen) {
    const atMs = clock.nowMs();
    for (const watcher of watchers) watcher(entry, atMs, seen);
  }

  function applyPresence(solverId: string, replica: string, presence: Presence | undefined) {
    const entry = entries.get(solverId);
    if (!entry) return;
    const was = shown(entry).status;
    if (presence) entry.elsewhere.set(replica, presence);
    else entry.elsewhere.delete(replica);
    if (shown(entry).status !== was) notifyShown(entry, 'elsewhere');
  }

  function corridorsOf(
    record: readonly string[] | null,
    session: SolverSession | undefined,
  ): ReadonlySet<string> {
    const onboarded = new Set(record ?? allCorridors);
    return session ? new Set(session.corridors.filter((corridor) => onboarded.has(corridor))) : onboarded;
  }

  const onboarded = new Map<string, readonly string[] | null>();

  /** Keeps the current session unless only another one is active. */
  function chooseSessions(entry: RosterEntry, sessions: readonly SolverSession[]) {
    entry.sessions = sessions;
    const spoke = entry.session !== undefined && sessions.includes(entry.session) ? entry.session : undefined;
    entry.session =
      spoke?.status === 'active'
        ? spoke
        : (sessions.find(({ status }) => status === 'active') ?? spoke ?? sessions[0]);
    entry.corridors = corridorsOf(onboarded.get(entry.id) ?? null, entry.session);
  }

  async function reload() {
    const records = await store.listSolvers();
    const seen = new Set<string>();
    for (const record of records) {
      seen.add(record.id);
      upsert(record);
    }
    for (const entry of entries.values()) {
      if (seen.has(entry.id)) continue;
      entries.delete(entry.id);
      for (const session of connectionsOf(entry)) session.end(1008, 'no longer on the roster');
    }
  }

  const reloadSoon = (): void =>
    void reload().catch((error: unknown) =>
      log.warn({ error }, 'the roster could not be reloaded; the next tick tries again'),
    );

  function upsert(record: SolverRecord) {
    onboarded.set(record.id, record.corridors);
    const entry = entries.get(record.id);
    if (!entry) {
      const { id, name, kind, disabled, firstSeenAtMs, lastQuoteAtMs } = record;
      entries.set(id, {
        id,
        name,
        kind,
        disabled,
        firstSeenAtMs,
        lastQuoteAtMs,
        corridors: corridorsOf(record.corridors, undefined),
        status: 'offline',
        note: null,
        session: undefined,
        sessions: [],
        shadows: [],
        breaker: createBreaker(breakerOptions),
        settled: 0,
        faded: 0,
        elsewhere: new Map(),
      });
      for (const to of ['offline', 'standby', 'active']) transitions.add({ solver: id, to }, 0);
      for (const hear of newcomers) hear(id);
      return;
    }
    Object.assign(entry, {
      name: record.name,
      kind: record.kind,
      disabled: record.disabled,
      firstSeenAtMs: earlier(entry.firstSeenAtMs, record.firstSeenAtMs),
    });
    // It may have quoted at another replica.
    if ((record.lastQuoteAtMs ?? 0) > (entry.lastQuoteAtMs ?? 0)) entry.lastQuoteAtMs = record.lastQuoteAtMs;
    entry.corridors = corridorsOf(record.corridors, entry.session);
    if (entry.disabled)
      for (const session of connectionsOf(entry)) session.end(1008, 'disabled by the venue');
    update(entry);
  }

  function tick() {
    for (const entry of entries.values()) update(entry);
    if (++ticks % RELOAD_TICKS === 0) reloadSoon();
    cancelTick = clock.after(TICK_MS, tick);
  }

  return {
    entries: () => entries.values(),
    entry: (solverId: string) => entries.get(solverId),
    /** Closes an older session of the same solver replica. false when the solver may not join. */
    join(session: SolverSession) {
      const entry = entries.get(session.solverId);
      if (!entry || entry.disabled) return false;
      const alike = session.shadow ? entry.shadows : entry.sessions;
      const older = alike.find(({ replica }) => replica === session.replica);
      const joined = [...alike.filter((each) => each !== older), session];
      if (session.shadow) entry.shadows = joined;
      else chooseSessions(entry, joined);
      older?.end(1008, 'another connection of this solver took over');
      const nowMs = clock.nowMs();
      entry.firstSeenAtMs ??= nowMs;
      store
        .solverSeen(entry.id, nowMs)
        .catch((error: unknown) =>
          log.warn({ solver: entry.id, error }, "a solver's first sight could not be stored"),
        );
      update(entry);
      return true;
    },
    /** Ignored when a newer session took its place. */
    leave(session: SolverSession, reason: string) {
      const entry = entries.get(session.solverId);
      if (entry?.shadows.includes(session)) {
        entry.shadows = entry.shadows.filter((each) => each !== session);
        return update(entry, entry.session === undefined ? reason : undefined);
      }
      if (!entry?.sessions.includes(session)) return;
      chooseSessions(
        entry,
        entry.sessions.filter((each) => each !== session),
      );
      update(entry, entry.session === undefined ? reason : undefined);
    },
    setStatus(session: SolverSession, status: 'active' | 'standby', note: string | null) {
      session.status = status;
      session.note = note;
      const entry = entries.get(session.solverId);
      if (!entry?.sessions.includes(session)) return;
      chooseSessions(entry, entry.sessions);
      if (statusChanges.take(entry.id).ok) update(entry);
    },
    recordFault(solverId: string, kind: SolverFault) {
      const entry = entries.get(solverId);
      if (!entry) return;
      if (kind === 'fade') entry.faded++;
      // Replicas learn of a fade from the order's event.
      else faults.set(solverId, (faults.get(solverId) ?? 0) + 1);
      peers.publishSoon();
      if (entry.breaker.fault(kind, clock.nowMs())) update(entry);
    },
    recordSettled(solverId: string) {
      const entry = entries.get(solverId);
      if (entry) entry.settled++;
    },
    recordQuoted(solverId: string) {
      const entry = entries.get(solverId);
      if (!entry) return;
      const nowMs = clock.nowMs();
      entry.lastQuoteAtMs = nowMs;
      if (nowMs - (quotedWrittenAt.get(solverId) ?? 0) < QUOTED_WRITE_MS) return;
      quotedWrittenAt.set(solverId, nowMs);
      store
        .solverQuoted(solverId, nowMs)
        .catch((error: unknown) =>
          log.warn({ solver: solverId, error }, "a solver's last quote could not be stored"),
        );
    },
    /** undefined when it serves no corridor of this mode. */
    view(entry: RosterEntry, mode: KeyMode): Solver | undefined {
      const { status, note, corridors: served } = shown(entry);
      const corridors = [...served].filter((corridor) => corridorsIn[mode].has(corridor)).sort();
      if (corridors.length === 0) return undefined;
      return {
        id: entry.id,
        status,
        kind: entry.kind,
        corridors,
        ...(entry.firstSeenAtMs !== null && { firstSeenAt: toIso(entry.firstSeenAtMs) }),
        ...(entry.lastQuoteAtMs !== null && { lastQuoteAt: toIso(entry.lastQuoteAtMs) }),
        eligibilityNote: note,
      };
    },
    /** When this replica learns of a solver. Register before `start`. */
    onOnboarded(listener: (solverId: string) => void): void {
      newcomers.add(listener);
    },
    /** When the status at this replica changes. */
    onChange(listener: (entry: RosterEntry, transition: RosterTransition) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** When the shown status changes. */
    onShown(watcher: (entry: RosterEntry, atMs: number, seen: Seen) => void) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    replicaShare(): ReplicaShare {
      return {
        name: 'roster',
        updates(all): PeerUpdate[] {
          const updates = [...faults].map(([solverId, count]): PeerUpdate => [solverId, 'invalid', count]);
          faults.clear();
          for (const { id, status, corridors, note, firstSeenAtMs } of entries.values()) {
            if ((all && status !== 'offline') || changed.has(id))
              updates.push([
                id,
                status,
                fitting([...corridors], note),
                (note ?? '').slice(0, 500),
                firstSeenAtMs ?? 0,
              ]);
          }
          changed.clear();
          return updates;
        },
        apply(replica, [solverId, what, of, note, firstSeenAtMs]) {
          const entry = entries.get(solverId);
          if (!entry) return;
          if (what !== 'invalid') {
            entry.firstSeenAtMs = earlier(entry.firstSeenAtMs, Number(firstSeenAtMs) || null);
            return applyPresence(solverId, replica, {
              status: what as RosterStatus,
              corridors: of === '' ? null : String(of).split(' '),
              note: note === '' ? null : String(note),
            });
          }
          for (let count = Number(of); count > 0; count--) entry.breaker.fault('invalid', clock.nowMs());
          update(entry);
        },
        peerGone(replica) {
          for (const { id } of entries.values()) applyPresence(id, replica, undefined);
        },
      };
    },
    async start() {
      unsubscribe = await bus.subscribe(SOLVERS_TOPIC, reloadSoon);
      await reload();
      cancelTick = clock.after(TICK_MS, tick);
    },
    async stop() {
      cancelTick();
      for (const entry of entries.values())
        for (const session of connectionsOf(entry)) session.end(1012, 'the venue is restarting');
      await unsubscribe?.();
    },
  };
}

const connectionsOf = ({ sessions, shadows }: RosterEntry): SolverSession[] => [...sessions, ...shadows];

/** Two replicas may record the first sight concurrently. */
const earlier = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

/** Empty when too long for one update. */
function fitting(corridors: readonly string[], note: string | null): string {
  const all = corridors.join(' ');
  return all.length + 3 * (note?.length ?? 0) > MAX_UPDATE_BYTES / 2 ? '' : all;
}
