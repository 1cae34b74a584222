/**
 * A map by text for hundreds of thousands that come and go: ids, nonces, takers. A JavaScript map of that
 * size touches five far places of memory for a key that is not there, and copies all of itself in one go when
 * it grows. Here a look touches one: hash and row lie side by side in one array of integers, open addressing
 * with linear probing. Growing moves integers only, a few at a time; keys and values stay where they are, in
 * pages, the keys as bytes.
 */

import { IN_PAGE, PAGE_BITS } from './page.ts';
import { createTexts, LONGEST } from './texts.ts';

export interface TextTable<K extends string, V> {
  get(key: K): V | undefined;
  has(key: K): boolean;
  set(key: K, value: V): void;
  delete(key: K): boolean;
  /**
   * In no order that means anything, the same for the same history. While they are walked through others may
   * come, which are seen or not, and go.
   */
  values(): IterableIterator<V>;
  readonly size: number;
}

const FIRST_SLOTS = 256;
const EMPTY = 0;
const GONE = -1;
/**
 * Slots of the smaller array, with each key that comes: it is empty long before the next growth, which takes
 * half as many keys as it has slots.
 */
const MOVED_AT_ONCE = 64;
const NO_ROW = -1;

/**
 * Values: one array for all of them would copy itself when it grows. A row without a key holds the next such
 * row, or `NO_ROW`.
 */
type Page<V> = (V | number)[];

let secret = 0x51ed270b;

/**
 * Nobody who chooses keys, as takers choose nonces, may know which of them fall together. Called once by a
 * program, with 32 bits from its randomness, before it makes tables; those made before keep theirs.
 */
export function seedTextTables(seed: number): void {
  secret = seed | 0;
}

/** For whatever else is found by a text that strangers choose. */
export const tableSeed = (): number => secret;

/** `longestKey`: longer ones cost an object each. */
export function createTextTable<K extends string, V>({
  longestKey = LONGEST.id,
}: { longestKey?: number } = {}): TextTable<K, V> {
  const seed = secret;
  /** Hash and row + 1 by turns; never more than half full, so that a look is short. */
  let slots = new Int32Array(2 * FIRST_SLOTS);
  let mask = FIRST_SLOTS - 1;
  /**
   * The smaller array of before, while not everything is moved out of it: a hundred thousand at once would
   * hold up quotes.
   */
  let old: Int32Array | undefined;
  let oldMask = 0;
  let moved = 0;
  const keys = createTexts<K>(longestKey);
  const pages: Page<V>[] = [];
  let rows = 0;
  let freeRow = NO_ROW;
  let size = 0;

  const valueAt = (row: number): V => (pages[row >>> PAGE_BITS] as Page<V>)[row & IN_PAGE] as V;
  function write(row: number, value: V | number): void {
    (pages[row >>> PAGE_BITS] as Page<V>)[row & IN_PAGE] = value;
  }

  function takeRow(): number {
    const row = freeRow;
    if (row !== NO_ROW) {
      freeRow = valueAt(row) as number;
      return row;
    }
    if ((rows & IN_PAGE) === 0) pages.push([]);
    rows += 1;
    return rows - 1;
  }

  /** Whoever found nothing puts something there next. */
  let lastKey: K | undefined;
  let lastHash = 0;
  function hashFor(key: K): number {
    if (key !== lastKey) {
      lastKey = key;
      lastHash = hashOf(key, seed);
    }
    return lastHash;
  }

  /** The slot of a key in one of the arrays; -1: it is not there. */
  function find(array: Int32Array, last: number, key: K, hash: number): number {
    for (let slot = hash & last; ; slot = (slot + 1) & last) {
      const row = array[2 * slot + 1] as number;
      if (row === EMPTY) return -1;
      if (array[2 * slot] === hash && row !== GONE && keys.is(row - 1, key)) return slot;
    }
  }

  /** The row of a key; -1: it is not there. */
  function rowOf(key: K, hash: number): number {
    const slot = find(slots, mask, key, hash);
    if (slot !== -1) return (slots[2 * slot + 1] as number) - 1;
    if (old === undefined) return -1;
    const was = find(old, oldMask, key, hash);
    return was === -1 ? -1 : (old[2 * was + 1] as number) - 1;
  }

  function place(hash: number, row: number): void {
    let slot = hash & mask;
    while (slots[2 * slot + 1] !== EMPTY) slot = (slot + 1) & mask;
    slots[2 * slot] = hash;
    slots[2 * slot + 1] = row + 1;
  }

  function grow(): void {
    while (old !== undefined) move();
    [old, oldMask, moved] = [slots, mask, 0];
    mask = 2 * mask + 1;
    slots = new Int32Array(2 * (mask + 1));
  }

  /**
   * Some of those that still stand in the smaller array. What stood there is marked, not emptied: others are
   * found past it.
   */
  function move(): void {
    if (old === undefined) return;
    for (let left = MOVED_AT_ONCE; left > 0 && moved <= oldMask; left -= 1, moved += 1) {
      const row = old[2 * moved + 1] as number;
      if (row === EMPTY || row === GONE) continue;
      place(old[2 * moved] as number, row - 1);
      old[2 * moved + 1] = GONE;
    }
    if (moved > oldMask) old = undefined;
  }

  /** Moves those that come after up, so that each is found from its own place on. */
  function close(hole: number): void {
    for (let slot = (hole + 1) & mask; slots[2 * slot + 1] !== EMPTY; slot = (slot + 1) & mask) {
      const home = (slots[2 * slot] as number) & mask;
      if (((slot - home) & mask) < ((slot - hole) & mask)) continue;
      slots[2 * hole] = slots[2 * slot] as number;
      slots[2 * hole + 1] = slots[2 * slot + 1] as number;
      hole = slot;
    }
    slots[2 * hole + 1] = EMPTY;
  }

  return {
    get(key) {
      const row = rowOf(key, hashFor(key));
      return row === -1 ? undefined : valueAt(row);
    },
    has: (key) => rowOf(key, hashFor(key)) !== -1,
    set(key, value) {
      const hash = hashFor(key);
      const known = rowOf(key, hash);
      if (known !== -1) {
        write(known, value);
        return;
      }
      if (2 * (size + 1) > mask) grow();
      move();
      const row = takeRow();
      keys.set(row, key);
      write(row, value);
      place(hash, row);
      size += 1;
    },
    delete(key) {
      const hash = hashFor(key);
      const slot = find(slots, mask, key, hash);
      let row: number;
      if (slot !== -1) {
        row = (slots[2 * slot + 1] as number) - 1;
        close(slot);
      } else {
        const was = old === undefined ? -1 : find(old, oldMask, key, hash);
        if (old === undefined || was === -1) return false;
        row = (old[2 * was + 1] as number) - 1;
        old[2 * was + 1] = GONE;
      }
      keys.set(row, undefined);
      write(row, freeRow);
      freeRow = row;
      size -= 1;
      return true;
    },
    *values() {
      for (let row = 0; row < rows; row += 1) if (keys.has(row)) yield valueAt(row);
    },
    get size() {
      return size;
    },
  };
}

/**
 * Of all of a text, two characters at a time; multiply and fold, so that each bit of the seed and of the text
 * reaches all that a slot is chosen by.
 */
export function hashOf(text: string, seed: number): number {
  let hash = seed ^ text.length;
  const even = text.length & ~1;
  for (let at = 0; at < even; at += 2) {
    hash = Math.imul(hash ^ (text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16)), 0x2c1b3c6d);
    hash ^= hash >>> 15;
  }
  if (even < text.length) hash = Math.imul(hash ^ text.charCodeAt(even), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
