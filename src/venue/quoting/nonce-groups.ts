/**
 * Which published quotes exclude each other: when one of a group executes, the LPs of the others hear that
 * they are free.
 */

import type { Bytes32 } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';

export interface NonceGroups {
  add(group: string, solverId: string, quoteId: Bytes32, until: UnixSeconds): void;
  /** The other quotes of the group, by solver; the group is forgotten. */
  take(group: string, executed: Bytes32): Map<string, Bytes32[]>;
  expire(now: UnixSeconds): void;
}

interface Group {
  /** Of each quote in turn its solver and its id; one list, because thousands of groups live at once. */
  quotes: string[];
  until: UnixSeconds;
}

export function createNonceGroups(): NonceGroups {
  const groups = new Map<string, Group>();
  return {
    add(group, solverId, quoteId, until) {
      const known = groups.get(group);
      if (!known) groups.set(group, { quotes: [solverId, quoteId], until });
      else {
        // A list that is pushed to keeps room for sixteen more.
        known.quotes = known.quotes.concat(solverId, quoteId);
        known.until = Math.max(known.until, until);
      }
    },
    take(group, executed) {
      const bySolver = new Map<string, Bytes32[]>();
      const { quotes = [] } = groups.get(group) ?? {};
      for (let at = 0; at < quotes.length; at += 2) {
        const [solverId, quoteId] = quotes.slice(at, at + 2) as [string, Bytes32];
        if (quoteId !== executed) bySolver.set(solverId, [...(bySolver.get(solverId) ?? []), quoteId]);
      }
      groups.delete(group);
      return bySolver;
    },
    expire(now) {
      // Insertion order is nearly order of lapsing, so a pass ends at the first few that live.
      let alive = 0;
      for (const [group, { until }] of groups) {
        if (until < now) groups.delete(group);
        else if (++alive > 64) break;
      }
    },
  };
}
