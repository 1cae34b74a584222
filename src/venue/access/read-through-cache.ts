/**
 * Keeps database rows in memory until one is announced as changed. `fetchMethod` of lru-cache would replace
 * 25 lines, but keeps a row whose change was announced while it was read, and serves an old row for ever
 * instead of 20 seconds.
 */

import { LRUCache } from 'lru-cache';
import { UpstreamError } from '../../domain/errors.ts';
import type { VenueDeps } from '../deps.ts';

/** A row is read again after this, in case the announcement was lost. */
export const CACHE_MS = 10_000;
/** A cached value is served for this long while the database does not answer. */
const STALE_MS = 20_000;
const MAX_ROWS = 20_000;

export function createReadThroughCache<T>({
  bus,
  clock,
  topic,
  read,
}: Pick<VenueDeps, 'bus' | 'clock'> & { topic: string; read(id: string): Promise<T> }) {
  const rows = new LRUCache<string, { value: T; untilMs: number }>({ max: MAX_ROWS });
  /** A row read during an announcement may be older than the change. */
  let changes = 0;
  const listeners: (() => void)[] = [];
  let unsubscribe: (() => Promise<void>) | undefined;
  const reading = new Map<string, Promise<T>>();

  function readShared(id: string): Promise<T> {
    let row = reading.get(id);
    if (!row) reading.set(id, (row = readCurrent(id).finally(() => reading.delete(id))));
    return row;
  }

  async function readCurrent(id: string): Promise<T> {
    for (;;) {
      const before = changes;
      const value = await read(id);
      if (changes !== before) continue;
      rows.set(id, { value, untilMs: clock.monotonicMs() + CACHE_MS });
      return value;
    }
  }

  return {
    async get(id: string): Promise<T> {
      const row = rows.get(id);
      const lateMs = row ? clock.monotonicMs() - row.untilMs : Number.POSITIVE_INFINITY;
      if (!row || lateMs >= STALE_MS) return readShared(id);
      if (lateMs >= 0) {
        readShared(id).catch((error: unknown) => {
          // The row is gone. After an UpstreamError it may still be there.
          if (!(error instanceof UpstreamError) && rows.get(id) === row) rows.delete(id);
        });
      }
      return row.value;
    },
    /** Returns the value only if it is in memory and need not be read again. */
    peek(id: string): T | undefined {
      const row = rows.get(id);
      return row && clock.monotonicMs() < row.untilMs ? row.value : undefined;
    },
    onChange: (listener: () => void) => void listeners.push(listener),
    async start() {
      unsubscribe = await bus.subscribe(topic, () => {
        changes++;
        rows.clear();
        for (const listener of listeners) listener();
      });
    },
    async stop() {
      await unsubscribe?.();
    },
  };
}
