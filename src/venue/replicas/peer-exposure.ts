/**
 * Totals that the other replicas reported, by replica and key. Each holds until it is replaced or expires.
 */

export interface PeerTotals<T> {
  put(replica: string, key: string, total: T, until: number): void;
  /** The unexpired totals of this key. */
  of(key: string, now: number): T[];
  /** The latest expiry of this key's totals; undefined without any. */
  until(key: string): number | undefined;
  /** Removes expired totals. */
  expire(now: number): void;
}

/** The totals of a replica that stops remain until they expire: its promises are still valid. */
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
