/**
 * A map by text for hundreds of thousands that come and go: ids, nonces, takers. A JavaScript map of that size touches five far
 * places of memory for a key that is not there, and copies all of itself in one go when it grows. Here a look touches one: hash
 * and row lie side by side in one array of integers, open addressing with linear probing; growing moves integers only.
 */

export interface TextTable<K extends string, V> {
  get(key: K): V | undefined;
  has(key: K): boolean;
  set(key: K, value: V): void;
  delete(key: K): boolean;
  /** In no order that means anything, the same for the same history. While they are walked through others may come, which are seen or not, and go. */
  values(): IterableIterator<V>;
  readonly size: number;
}

const FIRST_SLOTS = 256;
const EMPTY = 0;

let secret = 0x51ed270b;

/**
 * Nobody who chooses keys, as takers choose nonces, may know which of them fall together. Called once by a program, with
 * 32 bits from its randomness, before it makes tables; those made before keep theirs.
 */
export function seedTextTables(seed: number): void {
  secret = seed | 0;
}

export function createTextTable<K extends string, V>(): TextTable<K, V> {
  const seed = secret;
  /** Hash and row + 1 by turns; never more than half full, so that a look is short. */
  let slots = new Int32Array(2 * FIRST_SLOTS);
  let mask = FIRST_SLOTS - 1;
  const keys: (K | undefined)[] = [];
  const values: (V | undefined)[] = [];
  const freeRows: number[] = [];
  let size = 0;

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

  const rowAt = (slot: number): number => (slots[2 * slot + 1] as number) - 1;

  /** The slot of a key; -1: it is not there. */
  function find(key: K, hash: number): number {
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const row = slots[2 * slot + 1] as number;
      if (row === EMPTY) return -1;
      if (slots[2 * slot] === hash && keys[row - 1] === key) return slot;
    }
  }

  function place(hash: number, row: number): void {
    let slot = hash & mask;
    while (slots[2 * slot + 1] !== EMPTY) slot = (slot + 1) & mask;
    slots[2 * slot] = hash;
    slots[2 * slot + 1] = row + 1;
  }

  function grow(): void {
    const old = slots;
    mask = 2 * mask + 1;
    slots = new Int32Array(2 * (mask + 1));
    for (let at = 0; at < old.length; at += 2) if (old[at + 1] !== EMPTY) place(old[at] as number, (old[at + 1] as number) - 1);
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
      const slot = find(key, hashFor(key));
      return slot === -1 ? undefined : values[rowAt(slot)];
    },
    has: (key) => find(key, hashFor(key)) !== -1,
    set(key, value) {
      const hash = hashFor(key);
      const known = find(key, hash);
      if (known !== -1) {
        values[rowAt(known)] = value;
        return;
      }
      if (2 * (size + 1) > mask) grow();
      const row = freeRows.pop() ?? keys.length;
      keys[row] = key;
      values[row] = value;
      place(hash, row);
      size += 1;
    },
    delete(key) {
      const slot = find(key, hashFor(key));
      if (slot === -1) return false;
      const row = rowAt(slot);
      keys[row] = undefined;
      values[row] = undefined;
      freeRows.push(row);
      close(slot);
      size -= 1;
      return true;
    },
    *values() {
      for (let row = 0; row < keys.length; row += 1) if (keys[row] !== undefined) yield values[row] as V;
    },
    get size() {
      return size;
    },
  };
}

/** Of all of a text, two characters at a time; multiply and fold, so that each bit of the seed and of the text reaches all that a slot is chosen by. */
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
