/** The published quotes of each nonce group, so that LPs learn when their holds are released. */

import type { Bytes32 } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';

export interface NonceGroups {
  add(group: string, solverId: string, quoteId: Bytes32, until: UnixSeconds): void;
  take(group: string, executed: Bytes32): Map<string, Bytes32[]>;
  size(): number;
  expire(now: UnixSeconds): void;
}

export function createNonceGroups(): NonceGroups {
  const groups = new Map<string, { quotes: [solverId: string, quoteId: Bytes32][]; until: UnixSeconds }>();
  return {
    add(group: string, solverId: string, quoteId: Bytes32, until: UnixSeconds) {
      const entry = groups.get(group);
      if (!entry) groups.set(group, { quotes: [[solverId, quoteId]], until });
      else {
        entry.quotes.push([solverId, quoteId]);
        entry.until = Math.max(entry.until, until);
      }
    },
    take(group: string, executed: Bytes32) {
      const bySolver = new Map<string, Bytes32[]>();
      for (const [solverId, quoteId] of groups.get(group)?.quotes ?? [])
        if (quoteId !== executed) bySolver.set(solverId, [...(bySolver.get(solverId) ?? []), quoteId]);
      groups.delete(group);
      return bySolver;
    },
    size: () => groups.size,
    expire(now: UnixSeconds) {
      for (const [group, { until }] of groups) if (until < now) groups.delete(group);
    },
  };
}
