/**
 * Rows of the database kept in memory for the hot path, forgotten by every replica the moment one is
 * announced as changed.
 */

import { UpstreamError } from '../../domain/errors.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';

export interface ReadThroughCache<T> {
  /** Synchronous when it is remembered. What `read` throws is thrown and not remembered. */
  get(id: string): T | Promise<T>;
  /** Called after what was remembered has been forgotten. */
  onChange(listener: () => void): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A row is read again after this long, should the message of its change ever be lost. */
export const CACHE_MS = 10_000;
/**
 * What could not be read again still holds for this long, so that a database that is slow for a moment slows
 * nobody who is known.
 */
const STALE_MS = 20_000;
const MAX_REMEMBERED = 20_000;

export function createReadThroughCache<T>({
  bus,
  clock,
  topic,
  read,
}: {
  bus: Bus;
  clock: Clock;
  topic: string;
  read(id: string): Promise<T>;
}): ReadThroughCache<T> {
  const known = new Map<string, { value: T; untilMs: number }>();
  /** Counts announcements: a row that was being read while one came may be older than it. */
  let changes = 0;
  const listeners: (() => void)[] = [];
  let unsubscribe: (() => Promise<void>) | undefined;

  /** Reads under way: a crowd that finds a row too old asks once. */
  const looking = new Map<string, Promise<T>>();

  function look(id: string): Promise<T> {
    let found = looking.get(id);
    if (!found) looking.set(id, (found = readOnce(id).finally(() => looking.delete(id))));
    return found;
  }

  async function readOnce(id: string): Promise<T> {
    for (;;) {
      const before = changes;
      const value = await read(id);
      if (changes !== before) continue;
      if (known.size >= MAX_REMEMBERED) known.clear();
      known.set(id, { value, untilMs: clock.monotonicMs() + CACHE_MS });
      return value;
    }
  }

  return {
    get(id) {
      const remembered = known.get(id);
      const lateMs = remembered ? clock.monotonicMs() - remembered.untilMs : Number.POSITIVE_INFINITY;
      if (!remembered || lateMs >= STALE_MS) return look(id);
      if (lateMs >= 0) {
        look(id).catch((error: unknown) => {
          // A row that is gone is gone; one that could not be read may still be there.
          if (!(error instanceof UpstreamError) && known.get(id) === remembered) known.delete(id);
        });
      }
      return remembered.value;
    },
    onChange: (listener) => void listeners.push(listener),
    async start() {
      unsubscribe = await bus.subscribe(topic, () => {
        changes++;
        known.clear();
        for (const listener of listeners) listener();
      });
    },
    async stop() {
      await unsubscribe?.();
    },
  };
}
