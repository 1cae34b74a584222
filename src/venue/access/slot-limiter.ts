/**
 * Limits the requests in progress by kind: slots, and a queue before them in which keys take turns. A turn
 * of the event loop starts only a few requests of a kind, so a busy venue ends what it has begun before it
 * begins more. What it cannot serve waits here, where waiting is known and a refusal is cheap.
 */

import type { LoadKind, Refusal, Release } from '../../ports/http.ts';
import { ApiError } from '../../protocol/errors.ts';
import type { VenueDeps } from '../deps.ts';
import type { AdmissionOptions } from '../options.ts';
import { createFairQueue, type FairQueue } from './fair-queue.ts';

type SlotLimiterDeps = Pick<VenueDeps, 'clock' | 'metrics'> & {
  databaseWaitMs(): number;
  /** Calls back after the events that have arrived; the turn of the event loop when left out. */
  nextTurn?(begin: () => void): void;
};

export interface SlotLimiter {
  /** Throws 429 when the key exceeds its share of the slots, 503 when it would wait too long for one. */
  take(kind: LoadKind, keyId: string): Promise<Release>;
  /** Returns whether requests of the kind wait. */
  isBusy(kind: LoadKind): boolean;
  /**
   * Returns what `take` would throw because of a full queue, and counts it as refused; undefined when `take`
   * decides.
   */
  refusal(kind: LoadKind, keyId: string): Refusal | undefined;
}

interface Slots {
  readonly kind: LoadKind;
  inUse: number;
  readonly perKey: Map<string, { working: number; waiting: number }>;
  readonly queue: FairQueue<Waiter>;
  /** The requests that may be in progress: the places, or fewer while turns of the loop are long. */
  most: number;
  /** The requests started in this turn of the event loop. */
  started: number;
  /** True while a turn is awaited. */
  turnComes: boolean;
  /** True while the loop is watched: while requests wait, and until all places may be used again. */
  isWatched: boolean;
  /** A request is refused whenever this reaches 1. */
  refusalDebt: number;
}

interface Waiter {
  readonly keyId: string;
  go(): void;
}

const NEEDS_DATABASE: ReadonlySet<LoadKind> = new Set<LoadKind>([
  'export',
  'history',
  'read',
  'subscribe',
  'submit',
]);
const WHYS = ['overload', 'database', 'key_share', 'full', 'waited'] as const;
type Why = (typeof WHYS)[number];
/**
 * One key may use this share of the places, and of places and queue together: slow peers with one key leave
 * the rest to other keys.
 */
const KEY_SHARE = 0.75;
/** Enough for many frames to leave in one write, and few enough for short turns. */
const STARTS_PER_TURN = 32;
/**
 * Fewer requests of these kinds are in progress while turns take longer than `LONG_TURN_MS`: then as much has
 * begun as the loop can end. These kinds cost the event loop more than they cost others.
 */
const YIELDING: ReadonlySet<LoadKind> = new Set<LoadKind>(['quote', 'memory']);
const WATCH_MS = 5;
const LONG_TURN_MS = 10;
const SHRINK = 0.8;

const OVERLOADED = 'The venue is overloaded, so nothing was done. Ask again after the time in Retry-After.';

interface LimiterState extends SlotLimiterDeps {
  readonly options: AdmissionOptions;
  readonly byKind: ReadonlyMap<LoadKind, Slots>;
  readonly nextTurn: (begin: () => void) => void;
  refuse(kind: LoadKind, why: Why, message: string, retryAfterSeconds?: number): ApiError;
}

export function createSlotLimiter(deps: SlotLimiterDeps, options: AdmissionOptions): SlotLimiter {
  const kinds = Object.keys(options.places) as LoadKind[];
  const byKind = new Map(kinds.map((kind) => [kind, newSlots(kind, options)]));
  const shed = deps.metrics.counter('firmquote_venue_shed_total', 'Requests refused for load', {
    kind: kinds,
    why: WHYS,
  });
  deps.metrics.gauge('firmquote_venue_at_work', 'Requests at work', ['kind'], (gauge) => {
    for (const [kind, { inUse }] of byKind) gauge.set(inUse, { kind });
  });
  deps.metrics.gauge('firmquote_venue_waiting', 'Requests that wait for a slot', ['kind'], (gauge) => {
    for (const [kind, { queue }] of byKind) gauge.set(queue.size(), { kind });
  });
  const state: LimiterState = {
    nextTurn: setImmediate,
    ...deps,
    options,
    byKind,
    refuse(kind, why, message, retryAfterSeconds = 1) {
      shed.add({ kind, why });
      const code = why === 'key_share' ? 'rate_limited' : 'unavailable';
      return new ApiError(code, message, { retryAfterSeconds });
    },
  };
  return {
    take: async (kind, keyId) => take(state, byKind.get(kind) as Slots, keyId),
    isBusy: (kind) => (byKind.get(kind) as Slots).queue.size() > 0,
    refusal(kind, keyId) {
      const { queue } = byKind.get(kind) as Slots;
      const retryAfterSeconds = queue.refuse(keyId, deps.clock.monotonicMs());
      if (retryAfterSeconds === undefined) return undefined;
      shed.add({ kind, why: 'overload' });
      return { code: 'unavailable', message: OVERLOADED, retryAfterSeconds };
    },
  };
}

const newSlots = (kind: LoadKind, { places, targetWaitMs }: AdmissionOptions): Slots => ({
  kind,
  inUse: 0,
  most: places[kind],
  perKey: new Map(),
  queue: createFairQueue<Waiter>({ targetMs: targetWaitMs[kind], leastHeld: STARTS_PER_TURN }),
  started: 0,
  turnComes: false,
  isWatched: false,
  refusalDebt: 0,
});

function take(state: LimiterState, slots: Slots, keyId: string): Release | Promise<Release> {
  const { places, waiting } = state.options;
  const { kind } = slots;
  refuseForDatabase(state, slots);
  const { working, waiting: queued } = slots.perKey.get(keyId) ?? { working: 0, waiting: 0 };
  const mine = working + queued;
  if (mine >= shareOf(places[kind] + waiting[kind]))
    throw state.refuse(
      kind,
      'key_share',
      `This key has ${mine} requests of this kind in progress, which is its share. Wait for answers.`,
    );
  const startsNow = slots.queue.size() === 0 && slots.started < STARTS_PER_TURN;
  if (startsNow && mayWork(state, slots, keyId)) return occupy(state, slots, keyId);
  if (slots.inUse + slots.queue.size() >= places[kind] + waiting[kind])
    throw state.refuse(
      kind,
      'full',
      'The venue is full of requests of this kind, so nothing was done. Ask again after the time in Retry-After.',
    );
  const retryAfterSeconds = slots.queue.refuse(keyId, state.clock.monotonicMs());
  if (retryAfterSeconds !== undefined) throw state.refuse(kind, 'overload', OVERLOADED, retryAfterSeconds);
  return wait(state, slots, keyId);
}

/** Refuses a growing share of the requests that need the database while statements wait for a connection. */
function refuseForDatabase(state: LimiterState, slots: Slots): void {
  if (!NEEDS_DATABASE.has(slots.kind)) return;
  const mark = state.options.shedAtDatabaseWaitMs;
  const share = (state.databaseWaitMs() - mark) / mark;
  if (share <= 0) return void (slots.refusalDebt = 0);
  slots.refusalDebt = Math.min(1, slots.refusalDebt) + Math.min(1, share);
  if (slots.refusalDebt < 1) return;
  slots.refusalDebt -= 1;
  throw state.refuse(
    slots.kind,
    'database',
    'The database of the venue is overloaded, so nothing was done. Ask again in a second.',
  );
}

function wait(state: LimiterState, slots: Slots, keyId: string): Promise<Release> {
  const { clock, options } = state;
  const { kind, queue } = slots;
  return new Promise((resolve, reject) => {
    const waiter: Waiter = {
      keyId,
      go() {
        cancel();
        count(slots, keyId, 'waiting', -1);
        resolve(occupy(state, slots, keyId));
      },
    };
    queue.enter(keyId, waiter, clock.monotonicMs());
    count(slots, keyId, 'waiting', 1);
    const cancel = clock.after(options.maxWaitMs, () => {
      queue.remove(keyId, waiter);
      count(slots, keyId, 'waiting', -1);
      reject(
        state.refuse(
          kind,
          'waited',
          'No slot became free in time, so nothing was done. Ask again in a second.',
        ),
      );
    });
    awaitTurn(state, slots);
    if (YIELDING.has(kind) && !slots.isWatched) watch(state, slots);
  });
}

function occupy(state: LimiterState, slots: Slots, keyId: string): Release {
  slots.inUse++;
  slots.started++;
  count(slots, keyId, 'working', 1);
  awaitTurn(state, slots);
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    slots.inUse--;
    count(slots, keyId, 'working', -1);
    if (mayStartSome(slots)) awaitTurn(state, slots);
  };
}

/**
 * Yielding kinds start in groups, because requests that leave in one turn share frames, writes and wake-ups.
 * `watch` starts what is left.
 */
function mayStartSome({ kind, inUse, most, queue }: Slots): boolean {
  const group = YIELDING.has(kind) ? Math.min(STARTS_PER_TURN, most, queue.size()) : 1;
  return queue.size() > 0 && most - inUse >= group;
}

function awaitTurn(state: LimiterState, slots: Slots): void {
  if (slots.turnComes) return;
  slots.turnComes = true;
  state.nextTurn(() => {
    slots.turnComes = false;
    slots.started = 0;
    startWaiting(state, slots);
  });
}

/**
 * Adjusts how much may be in progress by how late a timer is: less by a fifth while requests wait and the
 * timer is late, else one more. So turns stay short, however long solvers take.
 */
function watch(state: LimiterState, slots: Slots): void {
  const { clock, options } = state;
  slots.isWatched = true;
  const dueMs = clock.monotonicMs() + WATCH_MS;
  clock.after(WATCH_MS, () => {
    const { kind, inUse, most, queue } = slots;
    const places = options.places[kind];
    slots.isWatched = false;
    if (queue.size() === 0 && most >= places) return;
    const isLong = clock.monotonicMs() - dueMs > LONG_TURN_MS;
    const fewer = Math.max(STARTS_PER_TURN, SHRINK * Math.min(most, inUse));
    slots.most = Math.min(places, isLong && queue.size() > 0 ? fewer : most + 1);
    watch(state, slots);
    if (queue.size() > 0) awaitTurn(state, slots);
  });
}

function startWaiting(state: LimiterState, slots: Slots): void {
  const nowMs = state.clock.monotonicMs();
  while (slots.started < STARTS_PER_TURN) {
    const next = slots.queue.next(nowMs, (keyId) => mayWork(state, slots, keyId));
    if (!next) return;
    next.go();
  }
}

function mayWork({ options: { places } }: LimiterState, { kind, inUse, most, perKey }: Slots, keyId: string) {
  return inUse < Math.floor(most) && (perKey.get(keyId)?.working ?? 0) < shareOf(places[kind]);
}

const shareOf = (most: number): number => Math.max(1, Math.ceil(most * KEY_SHARE));

function count({ perKey }: Slots, keyId: string, what: 'working' | 'waiting', change: 1 | -1): void {
  const mine = perKey.get(keyId) ?? { working: 0, waiting: 0 };
  mine[what] += change;
  if (mine.working + mine.waiting > 0) perKey.set(keyId, mine);
  else perKey.delete(keyId);
}
