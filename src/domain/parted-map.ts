/**
 * A map of very many by text, kept in parts: a JavaScript map of 100,000 that has to grow, or to sweep out what was deleted,
 * copies all of it in one go and holds everybody up for ten milliseconds. A part is a sixty-fourth of that.
 */

export interface PartedMap<V> {
  get(key: string): V | undefined;
  has(key: string): boolean;
  set(key: string, value: V): void;
  delete(key: string): boolean;
  /** Oldest first within a part; the parts one after another. */
  values(): IterableIterator<V>;
  /** Takes out of each part its oldest, one after another, for as long as `over` says so. */
  dropWhile(over: (value: V) => boolean): void;
  readonly size: number;
}

const PARTS = 64;

/** Any text spreads well enough whose last character or whose middle differs: ids, addresses, nonces. */
function partOf(key: string): number {
  const middle = key.length >> 1;
  // Beyond the end there is NaN, which the operators make 0.
  return (key.charCodeAt(key.length - 1) + 7 * (key.charCodeAt(middle) | 0) + 31 * (key.charCodeAt(middle + 1) | 0)) & (PARTS - 1);
}

export function createPartedMap<V>(): PartedMap<V> {
  const parts = Array.from({ length: PARTS }, () => new Map<string, V>());
  const part = (key: string) => parts[partOf(key)] as Map<string, V>;

  return {
    get: (key) => part(key).get(key),
    has: (key) => part(key).has(key),
    set: (key, value) => void part(key).set(key, value),
    delete: (key) => part(key).delete(key),
    *values() {
      for (const each of parts) yield* each.values();
    },
    dropWhile(over) {
      for (const each of parts) {
        for (const [key, value] of each) {
          if (!over(value)) break;
          each.delete(key);
        }
      }
    },
    get size() {
      let size = 0;
      for (const each of parts) size += each.size;
      return size;
    },
  };
}
