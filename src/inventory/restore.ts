/**
 * Ledgers that begin where another one was: from what a clean stop wrote, or from everything that ever
 * happened.
 */

import { atOnce } from '../domain/steps.ts';
import type { LedgerEvent } from './event.ts';
import { createLedger } from './ledger.ts';
import { inPieces, type LedgerSnapshot, type SnapshotPieces } from './snapshot.ts';
import type { Ledger, LedgerOptions } from './views.ts';

/**
 * A ledger as it was when the snapshot was taken, a piece for each step. Throws `InvariantError` when the
 * configuration lost a bucket it needs.
 */
export function* restoring(options: LedgerOptions, pieces: SnapshotPieces): Generator<void, Ledger> {
  const ledger = createLedger(options);
  yield* ledger.load(pieces);
  return ledger;
}

/** The same in one step. */
export function restoreLedger(options: LedgerOptions, snapshot: LedgerSnapshot): Ledger {
  return atOnce(restoring(options, inPieces(snapshot)));
}

/** A ledger rebuilt from everything that ever happened to it. */
export function replay(options: LedgerOptions, events: Iterable<LedgerEvent>): Ledger {
  const ledger = createLedger(options);
  for (const event of events) ledger.apply(event);
  return ledger;
}
