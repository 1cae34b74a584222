/** Totals of the other replicas; each holds until replaced or expired. */

export interface PeerTotals<T> {
  put(replica: string, key: string, total: T, until: number): void;
  of(key: string, now: number): T[];
  /** The latest expiry; undefined without totals. */
  until(key: string): number | undefined;
  expire(now: number): void;
}

/** A stopped replica's promises are still valid. */
export function createPeerTotals<T>(): PeerTotals<T> {
  const reported = new Map<string, Map<string, { total: T; until: number }>>();
  return {
    put(replica, key, total, until) {
      const byReplica = reported.get(key);
      if (byReplica) byReplica.set(replica, { total, until });
      else reported.set(key, new Map([[replica, { total, until }]]));
    },
    of(key, now) {
      const entries = reported.get(key);
      return entries
        ? [...entries.values()].flatMap(({ total, until }) => (until >= now ? [total] : []))
        : [];
    },
    until: (key) => {
      const entries = reported.get(key);
      return entries && Math.max(...[...entries.values()].map(({ until }) => until));
    },
    expire(now) {
      for (const [key, entries] of reported) {
        for (const [replica, { until }] of entries) if (until < now) entries.delete(replica);
        if (entries.size === 0) reported.delete(key);
      }
    },
  };
}
