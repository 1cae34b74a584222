/**
 * How much is at work at once. Every entrance has so many places and a short line before them; what finds
 * neither is refused before it has cost anything, with a word on when to come back. While the loop or the
 * database is behind, entrances that need it close by degrees, the cheapest to refuse first: a quote can be
 * asked for again, a submission is somebody's trade.
 */

import type { Clock } from '../../ports/clock.ts';
import type { LoadKind, Release } from '../../ports/http.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { ApiError } from '../../protocol/errors.ts';
import type { AdmissionOptions } from '../options.ts';

export interface SlotLimiterDeps {
  clock: Clock;
  metrics: Metrics;
  /** Milliseconds that the longest waiting statement has waited for a connection. */
  databaseWaitMs(): number;
}

export interface SlotLimiter {
  /**
   * A place, or how to wait for one; give it back once, by calling what comes. Throws 429 to a key that holds
   * more than its share of the places, 503 when there is no room. Synchronous unless it has to wait.
   */
  take(kind: LoadKind, keyId: string): Release | Promise<Release>;
  start(): void;
  stop(): void;
}

interface Entrance {
  atWork: number;
  readonly perKey: Map<string, number>;
  readonly line: Waiter[];
  /** Shares of refusals not yet carried out: refusing every third needs no dice. */
  owed: number;
}

interface Waiter {
  keyId: string;
  go(release: Release): void;
}

/** How late the loop may be, as a multiple of `shedAtLagMs`, before an entrance begins to close. */
const PATIENCE: Record<LoadKind, number> = {
  quote: 1,
  export: 1,
  socket: 2,
  memory: 2,
  read: 2,
  subscribe: 2,
  preflight: 2,
  submit: 4,
};
const NEEDS_DATABASE: ReadonlySet<LoadKind> = new Set<LoadKind>(['export', 'read', 'subscribe', 'submit']);
/** One key never has more of the places than this. */
const KEY_SHARE = 0.75;
const TICK_MS = 20;
/** Late for this many looks in a row is load; once is only a hiccup. */
const LOOKS = 10;

export function createSlotLimiter(
  { clock, metrics, databaseWaitMs }: SlotLimiterDeps,
  { places, waiting, maxWaitMs, shedAtLagMs, shedAtDatabaseWaitMs }: AdmissionOptions,
): SlotLimiter {
  const entrances = new Map<LoadKind, Entrance>();
  const shed = metrics.counter('firmquote_venue_shed_total', 'Requests refused for load, before any work', [
    'kind',
    'why',
  ]);
  metrics.gauge('firmquote_venue_at_work', 'Requests at work', ['kind'], (gauge) => {
    for (const [kind, { atWork }] of entrances) gauge.set(atWork, { kind });
  });
  metrics.gauge(
    'firmquote_venue_loop_lag_ms',
    'How late the event loop has been, the least of the last looks',
    [],
    (gauge) => gauge.set(steadyLag()),
  );
  const lags: number[] = [];
  let cancelTick = () => {};

  const steadyLag = () => (lags.length < LOOKS ? 0 : Math.min(...lags));

  function tick(dueMs: number): void {
    lags.push(Math.max(0, clock.monotonicMs() - dueMs));
    if (lags.length > LOOKS) lags.shift();
    next();
  }

  function next(): void {
    const dueMs = clock.monotonicMs() + TICK_MS;
    cancelTick = clock.after(TICK_MS, () => tick(dueMs));
  }

  function entranceOf(kind: LoadKind): Entrance {
    let entrance = entrances.get(kind);
    if (!entrance) entrances.set(kind, (entrance = { atWork: 0, perKey: new Map(), line: [], owed: 0 }));
    return entrance;
  }

  function refuse(kind: LoadKind, why: string, message: string, retryAfterSeconds = 1): never {
    shed.add({ kind, why });
    throw new ApiError(why === 'key_share' ? 'rate_limited' : 'unavailable', message, { retryAfterSeconds });
  }

  /** From none of them at the mark to all of them at twice the mark. */
  function closing(kind: LoadKind): number {
    const mark = shedAtLagMs * PATIENCE[kind];
    const byLag = (steadyLag() - mark) / mark;
    const byDatabase = NEEDS_DATABASE.has(kind)
      ? (databaseWaitMs() - shedAtDatabaseWaitMs) / shedAtDatabaseWaitMs
      : 0;
    return Math.max(byLag, byDatabase);
  }

  function take(kind: LoadKind, entrance: Entrance, keyId: string): Release {
    entrance.atWork++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      entrance.atWork--;
      leave(entrance, keyId);
      const waiter = entrance.line.shift();
      if (waiter) waiter.go(take(kind, entrance, waiter.keyId));
    };
  }

  function leave({ perKey }: Entrance, keyId: string): void {
    const left = (perKey.get(keyId) ?? 1) - 1;
    if (left > 0) perKey.set(keyId, left);
    else perKey.delete(keyId);
  }

  return {
    take(kind, keyId) {
      const entrance = entranceOf(kind);
      const share = closing(kind);
      if (share > 0) {
        entrance.owed = Math.min(1, entrance.owed) + Math.min(1, share);
        if (entrance.owed >= 1) {
          entrance.owed -= 1;
          refuse(
            kind,
            'overload',
            'The venue has more to do than it can at the moment, so nothing was done. Ask again in a second.',
          );
        }
      } else entrance.owed = 0;
      const [most, line] = [places[kind], waiting[kind]];
      const mine = entrance.perKey.get(keyId) ?? 0;
      // A key may fill an idle venue's places up to its share; the rest is for the others.
      if (mine >= Math.max(1, Math.ceil((most + line) * KEY_SHARE)))
        refuse(
          kind,
          'key_share',
          `This key has ${mine} requests of this kind at work already, which is its share. Wait for some of them to be answered.`,
        );
      if (entrance.atWork < most) {
        entrance.perKey.set(keyId, mine + 1);
        return take(kind, entrance, keyId);
      }
      if (entrance.line.length >= line)
        refuse(
          kind,
          'full',
          'The venue has as many requests of this kind at work as it takes, so nothing was done. Ask again in a second.',
        );
      entrance.perKey.set(keyId, mine + 1);
      return new Promise((resolve, reject) => {
        const cancel = clock.after(maxWaitMs, () => {
          entrance.line.splice(entrance.line.indexOf(waiter), 1);
          leave(entrance, keyId);
          try {
            refuse(
              kind,
              'waited',
              'No place became free in time, so nothing was done. Ask again in a second.',
            );
          } catch (error) {
            reject(error as Error);
          }
        });
        const waiter: Waiter = {
          keyId,
          go(release) {
            cancel();
            resolve(release);
          },
        };
        entrance.line.push(waiter);
      });
    },
    start: next,
    stop: () => cancelTick(),
  };
}
