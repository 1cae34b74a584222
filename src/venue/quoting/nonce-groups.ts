/** The published quotes of each nonce group, so that LPs learn when their holds are released. */

import type { Bytes32 } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';

export interface NonceGroups {
  add(group: string, solverId: string, quoteId: Bytes32, until: UnixSeconds): void;
  take(group: string, executed: Bytes32): Map<string, Bytes32[]>;
  /** Removes groups whose quotes have expired. */
  expire(now: UnixSeconds): void;
}

export function createNonceGroups(): NonceGroups {
  const groups = new Map<string, { quotes: [solverId: string, quoteId: Bytes32][]; until: UnixSeconds }>();
  return {
    add(group, solverId, quoteId, until) {
      const entry = groups.get(group);
      if (!entry) groups.set(group, { quotes: [[solverId, quoteId]], until });
      else {
        entry.quotes.push([solverId, quoteId]);
        entry.until = Math.max(entry.until, until);
      }
    },
    take(group, executed) {
      const bySolver = new Map<string, Bytes32[]>();
      for (const [solverId, quoteId] of groups.get(group)?.quotes ?? [])
        if (quoteId !== executed) bySolver.set(solverId, [...(bySolver.get(solverId) ?? []), quoteId]);
      groups.delete(group);
      return bySolver;
    },
    expire(now) {
      // Groups are nearly in order of expiry: stop at the first few live ones.
      let live = 0;
      for (const [group, { until }] of groups) {
        if (until < now) groups.delete(group);
        else if (++live > 64) break;
      }
    },
  };
}
