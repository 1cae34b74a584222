/** Tells a solver that has lost its memory about its open orders. */

import type { Award } from '../../protocol/link/link.ts';
import type { SolverSession } from '../solvers/roster-entry.ts';
import { awardOf } from '../orders/award.ts';
import type { LinkConnection, LinkDeps } from './connection.ts';

/** A solver is answered at most this often: each resync costs a query. */
const RESYNC_EVERY_MS = 2_000;
/** A frame of the link holds 64 KB. */
const RESYNC_PIECE_CHARS = 40_000;

/** Answers immediately, or `RESYNC_EVERY_MS` after the last answer. */
export function resyncSoon(deps: LinkDeps, connection: LinkConnection, to: SolverSession): void {
  if (connection.resyncing) {
    connection.resyncAgain = true;
    return;
  }
  connection.resyncing = true;
  connection.resyncAgain = false;
  resync(deps, connection, to)
    .catch((error: unknown) =>
      deps.log.warn({ solver: connection.solverId, error }, 'a resync could not be answered'),
    )
    .finally(() => {
      if (connection.closed) return;
      connection.cancelResync = deps.clock.after(RESYNC_EVERY_MS, () => {
        connection.resyncing = false;
        if (connection.resyncAgain) resyncSoon(deps, connection, to);
      });
    });
}

/** Sends the solver its open orders, in pieces that fit into frames. */
async function resync(deps: LinkDeps, connection: LinkConnection, to: SolverSession): Promise<void> {
  let piece: Omit<Award, 'type'>[] = [];
  let chars = 0;
  const flush = () => {
    to.send(JSON.stringify({ type: 'resync', awards: piece }));
    piece = [];
    chars = 0;
  };
  for (const record of await deps.store.openOrdersOf(connection.solverId)) {
    if (record.mode !== connection.key.mode) continue;
    const { type: _, ...award } = awardOf(record, connection.solverId);
    const size = JSON.stringify(award).length;
    if (chars + size > RESYNC_PIECE_CHARS && piece.length > 0) flush();
    piece.push(award);
    chars += size;
  }
  flush();
}
