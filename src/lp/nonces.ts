/** Which live quotes share an on-chain nonce: when the chain shows that nonce used, all but the one that used it can never execute. */

import { createTextTable } from '../domain/text-table.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { HoldRequest } from '../inventory/event.ts';
import { createLapses } from '../inventory/lapses.ts';

type Held = Pick<HoldRequest, 'quoteId' | 'group' | 'lapsesAt'>;

export interface Nonces {
  /** Keeps the request itself, which the ledger does too. */
  add(request: Held): void;
  /** Quotes of a group, which is then forgotten. */
  take(group: string): readonly string[];
  /** Forgets what lapsed before `now`, some at a step: true when more is left, to be called again when others have had their turn. */
  prune(now: UnixSeconds): boolean;
  readonly size: number;
}

/** About a millisecond. */
const MOST_AT_ONCE = 500;

export function createNonces(): Nonces {
  // Most nonces have one quote: that itself, then, and no list of one.
  const groups = createTextTable<string, Held | Held[]>();
  const lapses = createLapses<Held>();
  const all = (held: Held | Held[]): Held[] => (Array.isArray(held) ? held : [held]);

  function forget(held: Held): void {
    const known = groups.get(held.group);
    if (known === undefined) return;
    const left = all(known).filter((each) => each !== held);
    if (left.length === 0) groups.delete(held.group);
    else groups.set(held.group, left);
  }

  return {
    add(request) {
      const known = groups.get(request.group);
      groups.set(request.group, known === undefined ? request : [...all(known), request]);
      lapses.schedule(request.lapsesAt + 1, request);
    },
    take(group) {
      const found = groups.get(group);
      groups.delete(group);
      return found === undefined ? [] : all(found).map(({ quoteId }) => quoteId);
    },
    prune(now) {
      const over = lapses.due(now, MOST_AT_ONCE);
      for (const held of over) forget(held);
      return over.length === MOST_AT_ONCE;
    },
    get size() {
      return groups.size;
    },
  };
}
