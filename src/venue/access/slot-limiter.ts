/**
 * Limits the requests in progress by kind: slots and a short queue. While the event loop or the database is
 * slow, growing shares are refused, quotes first and submissions last.
 */

import type { LoadKind, Release } from '../../ports/http.ts';
import { ApiError } from '../../protocol/errors.ts';
import type { VenueDeps } from '../deps.ts';
import type { AdmissionOptions } from '../options.ts';

type SlotLimiterDeps = Pick<VenueDeps, 'clock' | 'metrics'> & { databaseWaitMs(): number };

export interface SlotLimiter {
  /** Throws 429 when the key exceeds its share of the slots, 503 when none becomes free. */
  take(kind: LoadKind, keyId: string): Promise<Release>;
  start(): void;
  stop(): void;
}

interface Slots {
  inUse: number;
  readonly perKey: Map<string, { working: number; waiting: number }>;
  readonly queue: Waiter[];
  /** A request is refused whenever this reaches 1. */
  refusalDebt: number;
}

interface Waiter {
  keyId: string;
  go(): void;
}

/**
 * The multiple of `shedAtLagMs` from which growing shares of this kind are refused; at twice that, all are.
 */
const PATIENCE: Record<LoadKind, number> = {
  quote: 1,
  export: 1,
  socket: 2,
  memory: 2,
  read: 2,
  history: 1,
  subscribe: 2,
  preflight: 2,
  submit: 4,
};
const NEEDS_DATABASE: ReadonlySet<LoadKind> = new Set<LoadKind>([
  'export',
  'history',
  'read',
  'subscribe',
  'submit',
]);
const WHYS = ['overload', 'key_share', 'full', 'waited'] as const;
/**
 * One key may use this share of the places, and of places and queue together: slow peers with one key leave
 * the rest to other keys.
 */
const KEY_SHARE = 0.75;
const TICK_MS = 20;
/** A single late measurement is not load. */
const SAMPLES = 10;

export function createSlotLimiter(
  { clock, metrics, databaseWaitMs }: SlotLimiterDeps,
  { places, waiting, maxWaitMs, shedAtLagMs, shedAtDatabaseWaitMs }: AdmissionOptions,
): SlotLimiter {
  const byKind = new Map<LoadKind, Slots>();
  const shed = metrics.counter('firmquote_venue_shed_total', 'Requests refused for load', {
    kind: Object.keys(PATIENCE),
    why: WHYS,
  });
  metrics.gauge('firmquote_venue_at_work', 'Requests at work', ['kind'], (gauge) => {
    for (const [kind, { inUse }] of byKind) gauge.set(inUse, { kind });
  });
  metrics.gauge('firmquote_venue_loop_lag_seconds', 'Smallest of the recent event loop lags', [], (gauge) =>
    gauge.set(steadyLag() / 1000),
  );
  const lags: number[] = [];
  let cancelTick = () => {};

  const steadyLag = () => (lags.length < SAMPLES ? 0 : Math.min(...lags));

  function tick(dueMs: number) {
    lags.push(Math.max(0, clock.monotonicMs() - dueMs));
    if (lags.length > SAMPLES) lags.shift();
    next();
  }

  function next() {
    const dueMs = clock.monotonicMs() + TICK_MS;
    cancelTick = clock.after(TICK_MS, () => tick(dueMs));
  }

  function slotsOf(kind: LoadKind): Slots {
    let slots = byKind.get(kind);
    if (!slots) byKind.set(kind, (slots = { inUse: 0, perKey: new Map(), queue: [], refusalDebt: 0 }));
    return slots;
  }

  function refuse(kind: LoadKind, why: (typeof WHYS)[number], message: string, retryAfterSeconds = 1): never {
    shed.add({ kind, why });
    throw new ApiError(why === 'key_share' ? 'rate_limited' : 'unavailable', message, { retryAfterSeconds });
  }

  function refusalShare(kind: LoadKind): number {
    const mark = shedAtLagMs * PATIENCE[kind];
    const byLag = (steadyLag() - mark) / mark;
    const byDatabase = NEEDS_DATABASE.has(kind)
      ? (databaseWaitMs() - shedAtDatabaseWaitMs) / shedAtDatabaseWaitMs
      : 0;
    return Math.max(byLag, byDatabase);
  }

  const shareOf = (most: number): number => Math.max(1, Math.ceil(most * KEY_SHARE));

  function occupy(kind: LoadKind, keyId: string): Release {
    const slots = slotsOf(kind);
    slots.inUse++;
    count(slots, keyId, 'working', 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      slots.inUse--;
      count(slots, keyId, 'working', -1);
      const next = slots.queue.findIndex((waiter) => mayWork(kind, waiter.keyId));
      if (next >= 0) slots.queue.splice(next, 1)[0]?.go();
    };
  }

  function mayWork(kind: LoadKind, keyId: string): boolean {
    const { inUse, perKey } = slotsOf(kind);
    return inUse < places[kind] && (perKey.get(keyId)?.working ?? 0) < shareOf(places[kind]);
  }

  function count({ perKey }: Slots, keyId: string, what: 'working' | 'waiting', change: 1 | -1) {
    const mine = perKey.get(keyId) ?? { working: 0, waiting: 0 };
    mine[what] += change;
    if (mine.working + mine.waiting > 0) perKey.set(keyId, mine);
    else perKey.delete(keyId);
  }

  return {
    async take(kind: LoadKind, keyId: string): Promise<Release> {
      const slots = slotsOf(kind);
      const share = refusalShare(kind);
      if (share > 0) {
        slots.refusalDebt = Math.min(1, slots.refusalDebt) + Math.min(1, share);
        if (slots.refusalDebt >= 1) {
          slots.refusalDebt -= 1;
          refuse(kind, 'overload', 'The venue is overloaded, so nothing was done. Ask again in a second.');
        }
      } else slots.refusalDebt = 0;
      const [most, longestQueue] = [places[kind], waiting[kind]];
      const { working, waiting: queued } = slots.perKey.get(keyId) ?? { working: 0, waiting: 0 };
      const mine = working + queued;
      if (mine >= shareOf(most + longestQueue))
        refuse(
          kind,
          'key_share',
          `This key has ${mine} requests of this kind in progress, which is its share. Wait for answers.`,
        );
      if (mayWork(kind, keyId)) return occupy(kind, keyId);
      if (slots.queue.length >= longestQueue)
        refuse(
          kind,
          'full',
          'The venue is full of requests of this kind, so nothing was done. Ask again in a second.',
        );
      count(slots, keyId, 'waiting', 1);
      return new Promise((resolve, reject) => {
        const cancel = clock.after(maxWaitMs, () => {
          slots.queue.splice(slots.queue.indexOf(waiter), 1);
          count(slots, keyId, 'waiting', -1);
          try {
            refuse(
              kind,
              'waited',
              'No slot became free in time, so nothing was done. Ask again in a second.',
            );
          } catch (error) {
            reject(error as Error);
          }
        });
        const waiter: Waiter = {
          keyId,
          go() {
            cancel();
            count(slots, keyId, 'waiting', -1);
            resolve(occupy(kind, keyId));
          },
        };
        slots.queue.push(waiter);
      });
    },
    start: next,
    stop: () => cancelTick(),
  };
}
