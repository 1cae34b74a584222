/** Totals of the other replicas; each holds until replaced or expired. */

export interface PeerTotals<T> {
  put(replica: string, key: string, total: T, until: number): void;
  /** Returns the totals that hold at `now`, one for each replica that has reported one. */
  of(key: string, now: number): readonly T[];
  /** Returns when the last total ends; undefined when no replica has reported one. */
  until(key: string): number | undefined;
  expire(now: number): void;
}

const NONE: readonly never[] = [];

/** A stopped replica's promises are still valid. */
export function createPeerTotals<T>(): PeerTotals<T> {
  const reported = new Map<string, Map<string, { total: T; until: number }>>();
  return {
    put(replica: string, key: string, total: T, until: number) {
      const byReplica = reported.get(key);
      if (byReplica) byReplica.set(replica, { total, until });
      else reported.set(key, new Map([[replica, { total, until }]]));
    },
    of(key: string, now: number): readonly T[] {
      const entries = reported.get(key);
      return entries
        ? [...entries.values()].flatMap(({ total, until }) => (until >= now ? [total] : []))
        : NONE;
    },
    until: (key: string) => {
      const entries = reported.get(key);
      return entries && Math.max(...[...entries.values()].map(({ until }) => until));
    },
    expire(now: number) {
      for (const [key, entries] of reported) {
        for (const [replica, { until }] of entries) if (until < now) entries.delete(replica);
        if (entries.size === 0) reported.delete(key);
      }
    },
  };
}
