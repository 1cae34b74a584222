/** Which live quotes share an on-chain nonce: when the chain shows that nonce used, all but the one that used it can never execute. */

import type { UnixSeconds } from '../domain/time.ts';
import type { HoldRequest } from '../inventory/event.ts';

export interface Nonces {
  add(request: Pick<HoldRequest, 'quoteId' | 'group' | 'lapsesAt'>): void;
  /** Quotes of a group, which is then forgotten. */
  take(group: string): readonly string[];
  /** Forgets what lapsed before `now`. */
  prune(now: UnixSeconds): void;
  readonly size: number;
}

export function createNonces(): Nonces {
  const groups = new Map<string, { ids: string[]; lapsesAt: UnixSeconds }>();
  return {
    add({ quoteId, group, lapsesAt }) {
      const known = groups.get(group);
      if (known === undefined) groups.set(group, { ids: [quoteId], lapsesAt });
      else {
        known.ids.push(quoteId);
        known.lapsesAt = Math.max(known.lapsesAt, lapsesAt);
      }
    },
    take(group) {
      const found = groups.get(group)?.ids ?? [];
      groups.delete(group);
      return found;
    },
    prune(now) {
      // Insertion order is nearly deadline order, so one look from the front is enough; a long-lived quote in front only delays the rest.
      for (const [group, { lapsesAt }] of groups) {
        if (lapsesAt >= now) return;
        groups.delete(group);
      }
    },
    get size() {
      return groups.size;
    },
  };
}
