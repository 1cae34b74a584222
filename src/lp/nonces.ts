/** Which live quotes share an on-chain nonce: when the chain shows that nonce used, all but the one that used it can never execute. */

import { createPartedMap } from '../domain/parted-map.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { HoldRequest } from '../inventory/event.ts';

type Held = Pick<HoldRequest, 'quoteId' | 'group' | 'lapsesAt'>;

export interface Nonces {
  /** Keeps the request itself, which the ledger does too. */
  add(request: Held): void;
  /** Quotes of a group, which is then forgotten. */
  take(group: string): readonly string[];
  /** Forgets what lapsed before `now`. */
  prune(now: UnixSeconds): void;
  readonly size: number;
}

export function createNonces(): Nonces {
  // Most nonces have one quote: that itself, then, and no list of one.
  const groups = createPartedMap<Held | Held[]>();
  const all = (held: Held | Held[]): Held[] => (Array.isArray(held) ? held : [held]);
  return {
    add(request) {
      const known = groups.get(request.group);
      groups.set(request.group, known === undefined ? request : [...all(known), request]);
    },
    take(group) {
      const found = groups.get(group);
      groups.delete(group);
      return found === undefined ? [] : all(found).map(({ quoteId }) => quoteId);
    },
    prune(now) {
      // Insertion order is nearly deadline order, so one look from the front is enough; a long-lived quote in front only delays the rest.
      groups.dropWhile((held) => all(held).every(({ lapsesAt }) => lapsesAt < now));
    },
    get size() {
      return groups.size;
    },
  };
}
