/**
 * A map by text that forgets its oldest entries: bounded in number and in weight, for what others make as
 * large as they like. Which is the oldest is a list through the entries: a JavaScript map would have to be
 * asked for its first, and looks for it past everything that was taken from its front before. The list is
 * numbers in rows, for a collector of memory goes through every object of it.
 */

import { createColumn } from './column.ts';
import { createNumberRows } from './number-rows.ts';
import { createTextTable } from './text-table.ts';
import { createTexts, LONGEST } from './texts.ts';

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

/** Of an entry: the row of the next older one, of the next newer one, its weight. */
const OLDER = 0;
const NEWER = 1;
const WEIGHT = 2;

export function createBoundedMap<K extends string, V>({
  most,
  mostWeight = Number.POSITIVE_INFINITY,
  weigh = () => 0,
  forgot,
}: Bounds<K, V>): BoundedMap<K, V> {
  const rows = createTextTable<K, number>();
  const entries = createNumberRows(3);
  const keys = createTexts<K>(LONGEST.id);
  const values = createColumn<V>();
  /** Stands at either end of the list: what is older than the oldest, and newer than the newest. */
  const ends = entries.take();
  entries.set(ends, OLDER, ends);
  entries.set(ends, NEWER, ends);
  let total = 0;

  function unlink(row: number): void {
    const [older, newer] = [entries.get(row, OLDER), entries.get(row, NEWER)];
    entries.set(older, NEWER, newer);
    entries.set(newer, OLDER, older);
  }

  function toNewest(row: number): void {
    const newest = entries.get(ends, OLDER);
    entries.set(row, OLDER, newest);
    entries.set(row, NEWER, ends);
    entries.set(newest, NEWER, row);
    entries.set(ends, OLDER, row);
  }

  function forgetOldest(): void {
    const row = entries.get(ends, NEWER);
    const [key, value] = [keys.get(row) as K, values.get(row) as V];
    unlink(row);
    total -= entries.get(row, WEIGHT);
    rows.delete(key);
    keys.set(row, undefined);
    values.set(row, undefined);
    entries.free(row);
    forgot?.(key, value);
  }

  return {
    get(key) {
      const row = rows.get(key);
      return row === undefined ? undefined : values.get(row);
    },
    has: (key) => rows.has(key),
    use(key) {
      const row = rows.get(key);
      if (row === undefined) return undefined;
      unlink(row);
      toNewest(row);
      return values.get(row);
    },
    set(key, value) {
      const weight = weigh(value);
      let row = rows.get(key);
      if (row === undefined) {
        row = entries.take();
        rows.set(key, row);
        keys.set(row, key);
      } else {
        unlink(row);
        total -= entries.get(row, WEIGHT);
      }
      values.set(row, value);
      entries.set(row, WEIGHT, weight);
      toNewest(row);
      total += weight;
      for (const limit = most(); rows.size > 0 && (rows.size > limit || total > mostWeight);) forgetOldest();
    },
  };
}
