/** Ledgers rebuilt from a snapshot or from the event log. */

import type { LedgerEvent } from '../../src/inventory/event.ts';
import { createLedger } from '../../src/inventory/ledger.ts';
import type { LedgerSnapshot } from '../../src/inventory/snapshot.ts';
import type { Ledger, LedgerOptions } from '../../src/inventory/views.ts';

/** Restores a ledger from its snapshot. Throws `InvariantError` when a bucket of it is not configured. */
export function restoreLedger(options: LedgerOptions, { promises, ...books }: LedgerSnapshot): Ledger {
  const ledger = createLedger(options);
  ledger.loadBooks(books);
  ledger.loadHolds(promises);
  return ledger;
}

export function replay(options: LedgerOptions, events: Iterable<LedgerEvent>): Ledger {
  const ledger = createLedger(options);
  for (const event of events) ledger.apply(event);
  return ledger;
}
