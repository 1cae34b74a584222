/**
 * Elects the replica that fills, claims and keeps the books, by a lease in the database. A single LP always
 * leads.
 */

import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';

export interface Lead {
  /** true while this replica leads. Its writes are fenced as well. */
  mine(): boolean;
  /** true while any replica leads, so orders that need a sender may be quoted. */
  taken(): boolean;
  /** true when a process that runs the LP alone has taken over: sign nothing more. */
  readonly over: boolean;
  /** Takes or renews the lead when due. Rejects when the store does. */
  tick(): Promise<void>;
}

export const ALONE: Lead = {
  mine: () => true,
  taken: () => true,
  over: false,
  tick: () => Promise.resolve(),
};

/** A shadow LP has no leader, because it has nothing to fill, claim or book. */
export const SHADOW_LEAD: Lead = { ...ALONE, mine: () => false };

/** Renewals per lease. */
const PARTS = 4;

export function createLead(
  { store, clock, log }: { store: Pick<LpStore, 'lead'>; clock: Clock; log: Log },
  { leaseMs }: { leaseMs: number },
): Lead {
  let mineUntilMs = Number.NEGATIVE_INFINITY;
  let takenUntilMs = Number.NEGATIVE_INFINITY;
  let askedMs = Number.NEGATIVE_INFINITY;
  let over = false;
  let led = false;

  return {
    mine: () => clock.monotonicMs() < mineUntilMs,
    taken: () => clock.monotonicMs() < takenUntilMs,
    get over() {
      return over;
    },
    async tick() {
      const startedMs = clock.monotonicMs();
      if (over || startedMs - askedMs < leaseMs / PARTS) return;
      askedMs = startedMs;
      const { mine, taken, over: lost } = await store.lead(leaseMs);
      // Counted from before the query: the database starts the lease later, so it outlasts this estimate.
      mineUntilMs = mine ? startedMs + leaseMs : Number.NEGATIVE_INFINITY;
      if (taken) takenUntilMs = startedMs + 2 * leaseMs;
      over = lost;
      if (mine !== led)
        log.warn(
          {},
          mine ? 'this replica leads: it fills, claims and keeps the books' : 'another replica leads',
        );
      led = mine;
    },
  };
}
