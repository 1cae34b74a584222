/** A map that forgets its oldest entries: bounded in number and in weight, for what others make as large as they like. */

export interface BoundedMap<K, V> {
  get(key: K): V | undefined;
  has(key: K): boolean;
  /** Also makes it the newest. */
  set(key: K, value: V): void;
}

/** `mostWeight` in whatever unit `weigh` answers in. `forgot` hears of what made room, not of what was replaced. */
export function createBoundedMap<K, V>({ most, mostWeight, weigh, forgot }: { most: number; mostWeight: number; weigh: (value: V) => number; forgot?: (key: K, value: V) => void }): BoundedMap<K, V> {
  const entries = new Map<K, { value: V; weight: number }>();
  let total = 0;

  function remove(key: K): V | undefined {
    const entry = entries.get(key);
    if (!entry) return undefined;
    entries.delete(key);
    total -= entry.weight;
    return entry.value;
  }

  return {
    get: (key) => entries.get(key)?.value,
    has: (key) => entries.has(key),
    set(key, value) {
      remove(key);
      const weight = weigh(value);
      entries.set(key, { value, weight });
      total += weight;
      for (const [oldest, entry] of entries) {
        if (entries.size <= most && total <= mostWeight) break;
        remove(oldest);
        forgot?.(oldest, entry.value);
      }
    },
  };
}
