/** Which published quotes exclude each other: when one of a group executes, the LPs of the others hear that they are free. */

import type { Bytes32 } from '../domain/hex.ts';
import type { UnixSeconds } from '../domain/time.ts';

export interface Siblings {
  add(group: string, solverId: string, quoteId: Bytes32, until: UnixSeconds): void;
  /** The other quotes of the group, by solver; the group is forgotten. */
  take(group: string, executed: Bytes32): Map<string, Bytes32[]>;
  lapse(now: UnixSeconds): void;
}

export function createSiblings(): Siblings {
  const groups = new Map<string, { quotes: [string, Bytes32][]; until: UnixSeconds }>();
  return {
    add(group, solverId, quoteId, until) {
      const known = groups.get(group);
      if (!known) groups.set(group, { quotes: [[solverId, quoteId]], until });
      else {
        known.quotes.push([solverId, quoteId]);
        known.until = Math.max(known.until, until);
      }
    },
    take(group, executed) {
      const bySolver = new Map<string, Bytes32[]>();
      for (const [solverId, quoteId] of groups.get(group)?.quotes ?? []) {
        if (quoteId !== executed) bySolver.set(solverId, [...(bySolver.get(solverId) ?? []), quoteId]);
      }
      groups.delete(group);
      return bySolver;
    },
    lapse(now) {
      // Insertion order is nearly order of lapsing, so a pass ends at the first few that live.
      let alive = 0;
      for (const [group, { until }] of groups) {
        if (until < now) groups.delete(group);
        else if (++alive > 64) break;
      }
    },
  };
}
