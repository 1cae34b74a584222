/**
 * A map by text that forgets its oldest entries: bounded in number and in weight, for what others make as large as they like.
 * Which is the oldest is a list through the entries: a JavaScript map would have to be asked for its first, and looks for it
 * past everything that was taken from its front before.
 */

import { createTextTable } from './text-table.ts';

export interface BoundedMap<K extends string, V> {
  get(key: K): V | undefined;
  has(key: K): boolean;
  /** As `get`, and what is there becomes the newest. */
  use(key: K): V | undefined;
  /** Also makes it the newest. */
  set(key: K, value: V): void;
}

export interface Bounds<K extends string, V> {
  /** Entries, looked up at every `set`. */
  most(): number;
  mostWeight?: number;
  /** In the unit of `mostWeight`. */
  weigh?: (value: V) => number;
  /** Hears of what made room, not of what was replaced. */
  forgot?: (key: K, value: V) => void;
}

/** Between the next older one and the next newer one; at either end of the list stands the list itself. */
interface Link {
  older: Link;
  newer: Link;
}

interface Entry<K, V> extends Link {
  key: K;
  value: V;
  weight: number;
}

export function createBoundedMap<K extends string, V>({ most, mostWeight = Number.POSITIVE_INFINITY, weigh = () => 0, forgot }: Bounds<K, V>): BoundedMap<K, V> {
  const entries = createTextTable<K, Entry<K, V>>();
  const list = {} as Link;
  list.older = list.newer = list;
  let total = 0;
  let size = 0;

  function unlink({ older, newer }: Link): void {
    older.newer = newer;
    newer.older = older;
  }

  function toNewest(entry: Link): void {
    entry.older = list.older;
    entry.newer = list;
    list.older.newer = entry;
    list.older = entry;
  }

  return {
    get: (key) => entries.get(key)?.value,
    has: (key) => entries.has(key),
    use(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.newer !== list) {
        unlink(entry);
        toNewest(entry);
      }
      return entry.value;
    },
    set(key, value) {
      const weight = weigh(value);
      let entry = entries.get(key);
      if (entry === undefined) {
        entry = { key, value, weight, older: list, newer: list };
        entries.set(key, entry);
        size += 1;
      } else {
        unlink(entry);
        total -= entry.weight;
        entry.value = value;
        entry.weight = weight;
      }
      toNewest(entry);
      total += weight;
      for (const limit = most(); size > 0 && (size > limit || total > mostWeight); ) {
        const oldest = list.newer as Entry<K, V>;
        unlink(oldest);
        entries.delete(oldest.key);
        total -= oldest.weight;
        size -= 1;
        forgot?.(oldest.key, oldest.value);
      }
    },
  };
}
