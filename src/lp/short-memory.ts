/** Remembers values for a short time and no longer, so that a flood of requests leaves nothing in memory. */

import type { Clock } from '../ports/clock.ts';

export type ShortMemory<V> = ReturnType<typeof createShortMemory<V>>;

/** `most`: above this many the oldest hundredth is forgotten early. */
export function createShortMemory<V>(
  { clock }: { clock: Pick<Clock, 'monotonicMs'> },
  { keepMs, most }: { keepMs: number; most: number },
) {
  /** The oldest first. */
  const entries = new Map<string, { value: V; atMs: number }>();
  const isOver = (atMs: number): boolean => clock.monotonicMs() - atMs > keepMs;

  return {
    /** undefined when it was set longer ago than `keepMs`. */
    get(key: string): V | undefined {
      const found = entries.get(key);
      return found === undefined || isOver(found.atMs) ? undefined : found.value;
    },
    set(key: string, value: V): void {
      entries.delete(key);
      entries.set(key, { value, atMs: clock.monotonicMs() });
      if (entries.size <= most) return;
      for (const oldest of entries.keys()) {
        if (entries.size <= 0.99 * most) return;
        entries.delete(oldest);
      }
    },
    /** Frees what is over. Call about once a second. */
    forgetOld(): void {
      for (const [key, { atMs }] of entries) {
        if (!isOver(atMs)) return;
        entries.delete(key);
      }
    },
    get size(): number {
      return entries.size;
    },
  };
}
