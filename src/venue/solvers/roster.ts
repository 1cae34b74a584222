/**
 * Keeps which solvers can be asked now, and why others cannot. A solver is asked over its connection to this
 * replica; its public status is the best of all replicas.
 */

import { toIso } from '../../domain/time.ts';
import type { KeyMode, RosterTransition, SolverRecord } from '../../ports/stores/store.ts';
import type { Solver } from '../../protocol/api/roster.ts';
import { createBuckets } from '../access/token-buckets.ts';
import { createBreaker, type SolverFault } from './breaker.ts';
import type { BreakerOptions } from '../options.ts';
import type { ReplicaShare } from '../replicas/peers.ts';
import type { RosterEntry, SolverSession } from './roster-entry.ts';
import { earlier, replicaShare } from './roster-share.ts';
import {
  type RosterDeps,
  type RosterState,
  type Seen,
  shownStatus,
  STATUS_VALUE,
  update,
} from './roster-status.ts';

export const SOLVERS_TOPIC = 'solvers';

const QUOTED_WRITE_MS = 10_000;
const TICK_MS = 1_000;

/**
 * A solver may change `status` this often without delay; the next tick takes the latest of further changes.
 */
const STATUS_CHANGES = { perSecond: 0.5, burst: 8 };
const RELOAD_TICKS = 30;

export interface Roster {
  entries(): IterableIterator<RosterEntry>;
  entry(solverId: string): RosterEntry | undefined;
  /** Closes an older session of the same solver replica. false when the solver may not join. */
  join(session: SolverSession): boolean;
  /** Removes a session; ignored when a newer one took its place. */
  leave(session: SolverSession, reason: string): void;
  /** Takes over what a solver says of itself. */
  setStatus(session: SolverSession, status: 'active' | 'standby', note: string | null): void;
  /** Counts a fault; enough of them open the solver's breaker. */
  recordFault(solverId: string, kind: SolverFault): void;
  recordSettled(solverId: string): void;
  recordQuoted(solverId: string): void;
  /** Returns the solver as takers see it; undefined when it serves no corridor of this mode. */
  view(entry: RosterEntry, mode: KeyMode): Solver | undefined;
  /** Calls the listener when this replica learns of a solver. Register before `start`. */
  onOnboarded(listener: (solverId: string) => void): void;
  /** Calls the listener when the status at this replica changes. Returns how to end that. */
  onChange(listener: (entry: RosterEntry, transition: RosterTransition) => void): () => boolean;
  /** Calls the watcher when the shown status changes. Returns how to end that. */
  onShown(watcher: (entry: RosterEntry, atMs: number, seen: Seen) => void): () => boolean;
  /** Exchanges the status of solvers with the other replicas. */
  replicaShare(): ReplicaShare;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createRoster(deps: RosterDeps, breakerOptions: BreakerOptions): Roster {
  const state: RosterState = {
    breakerOptions,
    entries: new Map<string, RosterEntry>(),
    allCorridors: [...deps.corridors.test, ...deps.corridors.live],
    corridorsIn: { test: new Set(deps.corridors.test), live: new Set(deps.corridors.live) },
    listeners: new Set<(entry: RosterEntry, transition: RosterTransition) => void>(),
    watchers: new Set<(entry: RosterEntry, atMs: number, seen: Seen) => void>(),
    newcomers: new Set<(solverId: string) => void>(),
    statusChanges: createBuckets(deps.clock, STATUS_CHANGES),
    changed: new Set<string>(),
    faults: new Map<string, number>(),
    quotedWrittenAt: new Map<string, number>(),
    unsubscribe: undefined,
    cancelTick: () => {},
    ticks: 0,
    transitions: deps.metrics.counter('firmquote_venue_roster_transitions_total', 'Roster transitions', [
      'solver',
      'to',
    ]),
    onboarded: new Map<string, readonly string[] | null>(),
  };
  deps.metrics.gauge(
    'firmquote_venue_roster_status',
    'Solver status: 0 offline, 1 standby, 2 active',
    ['solver'],
    (gauge) => {
      for (const entry of state.entries.values()) gauge.set(STATUS_VALUE[entry.status], { solver: entry.id });
    },
  );
  return {
    entries: () => state.entries.values(),
    entry: (solverId) => state.entries.get(solverId),
    join: (session) => join(deps, state, session),
    leave: (session, reason) => leave(deps, state, session, reason),
    setStatus: (session, status, note) => setStatus(deps, state, session, status, note),
    recordFault: (solverId, kind) => recordFault(deps, state, solverId, kind),
    recordSettled: (solverId) => recordSettled(state, solverId),
    recordQuoted: (solverId) => recordQuoted(deps, state, solverId),
    view: (entry, mode) => view(state, entry, mode),
    onOnboarded: (listener) => onOnboarded(state, listener),
    onChange: (listener) => onChange(state, listener),
    onShown: (watcher) => onShown(state, watcher),
    replicaShare: () => replicaShare(deps, state),
    start: () => start(deps, state),
    stop: () => stop(state),
  };
}

function join(deps: RosterDeps, state: RosterState, session: SolverSession): boolean {
  const entry = state.entries.get(session.solverId);
  if (!entry || entry.disabled) return false;
  const alike = session.shadow ? entry.shadows : entry.sessions;
  const older = alike.find(({ replica }) => replica === session.replica);
  const joined = [...alike.filter((each) => each !== older), session];
  if (session.shadow) entry.shadows = joined;
  else chooseSessions(state, entry, joined);
  older?.end(1008, 'another connection of this solver took over');
  const nowMs = deps.clock.nowMs();
  entry.firstSeenAtMs ??= nowMs;
  deps.store
    .solverSeen(entry.id, nowMs)
    .catch((error: unknown) =>
      deps.log.warn({ solver: entry.id, error }, "a solver's first sight could not be stored"),
    );
  update(deps, state, entry);
  return true;
}

/** Keeps the current session unless only another one is active. */
function chooseSessions(state: RosterState, entry: RosterEntry, sessions: readonly SolverSession[]): void {
  entry.sessions = sessions;
  const spoke = entry.session !== undefined && sessions.includes(entry.session) ? entry.session : undefined;
  entry.session =
    spoke?.status === 'active'
      ? spoke
      : (sessions.find(({ status }) => status === 'active') ?? spoke ?? sessions[0]);
  entry.corridors = corridorsOf(state, state.onboarded.get(entry.id) ?? null, entry.session);
}

function corridorsOf(
  state: RosterState,
  record: readonly string[] | null,
  session: SolverSession | undefined,
): ReadonlySet<string> {
  const onboarded = new Set(record ?? state.allCorridors);
  return session ? new Set(session.corridors.filter((corridor) => onboarded.has(corridor))) : onboarded;
}

function leave(deps: RosterDeps, state: RosterState, session: SolverSession, reason: string): void {
  const entry = state.entries.get(session.solverId);
  if (entry?.shadows.includes(session)) {
    entry.shadows = entry.shadows.filter((each) => each !== session);
    return update(deps, state, entry, entry.session === undefined ? reason : undefined);
  }
  if (!entry?.sessions.includes(session)) return;
  chooseSessions(
    state,
    entry,
    entry.sessions.filter((each) => each !== session),
  );
  update(deps, state, entry, entry.session === undefined ? reason : undefined);
}

function setStatus(
  deps: RosterDeps,
  state: RosterState,
  session: SolverSession,
  status: 'active' | 'standby',
  note: string | null,
): void {
  session.status = status;
  session.note = note;
  const entry = state.entries.get(session.solverId);
  if (!entry?.sessions.includes(session)) return;
  chooseSessions(state, entry, entry.sessions);
  if (state.statusChanges.take(entry.id).ok) update(deps, state, entry);
}

function recordFault(deps: RosterDeps, state: RosterState, solverId: string, kind: SolverFault): void {
  const entry = state.entries.get(solverId);
  if (!entry) return;
  if (kind === 'fade') entry.faded++;
  // Replicas learn of a fade from the order's event.
  else state.faults.set(solverId, (state.faults.get(solverId) ?? 0) + 1);
  deps.peers.publishSoon();
  if (entry.breaker.fault(kind, deps.clock.nowMs())) update(deps, state, entry);
}

function recordSettled(state: RosterState, solverId: string): void {
  const entry = state.entries.get(solverId);
  if (entry) entry.settled++;
}

function recordQuoted(deps: RosterDeps, state: RosterState, solverId: string): void {
  const entry = state.entries.get(solverId);
  if (!entry) return;
  const nowMs = deps.clock.nowMs();
  entry.lastQuoteAtMs = nowMs;
  if (nowMs - (state.quotedWrittenAt.get(solverId) ?? 0) < QUOTED_WRITE_MS) return;
  state.quotedWrittenAt.set(solverId, nowMs);
  deps.store
    .solverQuoted(solverId, nowMs)
    .catch((error: unknown) =>
      deps.log.warn({ solver: solverId, error }, "a solver's last quote could not be stored"),
    );
}

function view(state: RosterState, entry: RosterEntry, mode: KeyMode): Solver | undefined {
  const { status, note, corridors: served } = shownStatus(entry);
  const corridors = [...served].filter((corridor) => state.corridorsIn[mode].has(corridor)).sort();
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
}

function onOnboarded(state: RosterState, listener: (solverId: string) => void): void {
  state.newcomers.add(listener);
}

function onChange(
  state: RosterState,
  listener: (entry: RosterEntry, transition: RosterTransition) => void,
): () => boolean {
  state.listeners.add(listener);
  return () => state.listeners.delete(listener);
}

function onShown(
  state: RosterState,
  watcher: (entry: RosterEntry, atMs: number, seen: Seen) => void,
): () => boolean {
  state.watchers.add(watcher);
  return () => state.watchers.delete(watcher);
}

async function start(deps: RosterDeps, state: RosterState): Promise<void> {
  state.unsubscribe = await deps.bus.subscribe(SOLVERS_TOPIC, () => reloadSoon(deps, state));
  await reload(deps, state);
  state.cancelTick = deps.clock.after(TICK_MS, () => tick(deps, state));
}

const reloadSoon = (deps: RosterDeps, state: RosterState): void =>
  void reload(deps, state).catch((error: unknown) =>
    deps.log.warn({ error }, 'the roster could not be reloaded; the next tick tries again'),
  );

async function reload(deps: RosterDeps, state: RosterState): Promise<void> {
  const records = await deps.store.listSolvers();
  const seen = new Set<string>();
  for (const record of records) {
    seen.add(record.id);
    upsert(deps, state, record);
  }
  for (const entry of state.entries.values()) {
    if (seen.has(entry.id)) continue;
    state.entries.delete(entry.id);
    for (const session of connectionsOf(entry)) session.end(1008, 'no longer on the roster');
  }
}

function upsert(deps: RosterDeps, state: RosterState, record: SolverRecord): void {
  state.onboarded.set(record.id, record.corridors);
  const entry = state.entries.get(record.id);
  if (!entry) {
    const { id, name, kind, disabled, firstSeenAtMs, lastQuoteAtMs } = record;
    state.entries.set(id, {
      id,
      name,
      kind,
      disabled,
      firstSeenAtMs,
      lastQuoteAtMs,
      corridors: corridorsOf(state, record.corridors, undefined),
      status: 'offline',
      note: null,
      session: undefined,
      sessions: [],
      shadows: [],
      breaker: createBreaker(state.breakerOptions),
      settled: 0,
      faded: 0,
      elsewhere: new Map(),
    });
    for (const to of ['offline', 'standby', 'active']) state.transitions.add({ solver: id, to }, 0);
    for (const hear of state.newcomers) hear(id);
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
  entry.corridors = corridorsOf(state, record.corridors, entry.session);
  if (entry.disabled) for (const session of connectionsOf(entry)) session.end(1008, 'disabled by the venue');
  update(deps, state, entry);
}

function tick(deps: RosterDeps, state: RosterState): void {
  for (const entry of state.entries.values()) update(deps, state, entry);
  if (++state.ticks % RELOAD_TICKS === 0) reloadSoon(deps, state);
  state.cancelTick = deps.clock.after(TICK_MS, () => tick(deps, state));
}

async function stop(state: RosterState): Promise<void> {
  state.cancelTick();
  for (const entry of state.entries.values())
    for (const session of connectionsOf(entry)) session.end(1012, 'the venue is restarting');
  await state.unsubscribe?.();
}

const connectionsOf = ({ sessions, shadows }: RosterEntry): SolverSession[] => [...sessions, ...shadows];
