/**
 * Totals as the other replicas last told them, by replica and name, until they say otherwise or their time is
 * over.
 */

export interface PeerTotals<T> {
  put(replica: string, key: string, total: T, until: number): void;
  /** Of this name, those whose time is not over. */
  of(key: string, now: number): T[];
  /** The latest time of any of this name; undefined when nobody told of it. */
  until(key: string): number | undefined;
  /** Forgets what is over. */
  lapse(now: number): void;
}

/**
 * A replica that dies takes its promises nowhere: what it told of stands until it would have ended anyway.
 */
export function createPeerTotals<T>(): PeerTotals<T> {
  const told = new Map<string, Map<string, { total: T; until: number }>>();
  return {
    put(replica, key, total, until) {
      const known = told.get(key);
      if (known) known.set(replica, { total, until });
      else told.set(key, new Map([[replica, { total, until }]]));
    },
    of(key, now) {
      const entries = told.get(key);
      return entries
        ? [...entries.values()].flatMap(({ total, until }) => (until >= now ? [total] : []))
        : [];
    },
    until: (key) => {
      const entries = told.get(key);
      return entries && Math.max(...[...entries.values()].map(({ until }) => until));
    },
    lapse(now) {
      for (const [key, entries] of told) {
        for (const [replica, { until }] of entries) if (until < now) entries.delete(replica);
        if (entries.size === 0) told.delete(key);
      }
    },
  };
}
