/**
 * Which of several replicas acts for the LP: it fills, claims and keeps the books, for as long as its lease
 * in the database stands. One that runs alone always does.
 */

import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';

export interface Lead {
  /** May this replica act? Its writes are fenced besides. */
  mine(): boolean;
  /** Does anybody act? Then what needs a sender may be promised. */
  taken(): boolean;
  /** A process that runs the LP alone has taken it over: sign nothing more. */
  readonly over: boolean;
  /** Takes or keeps the lead where that is due. Throws what the store throws. */
  tick(): Promise<void>;
}

export const ALONE: Lead = {
  mine: () => true,
  taken: () => true,
  over: false,
  tick: () => Promise.resolve(),
};

/** Asked again so often within one lease. */
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
      // Counted from before the question: the database began later, so its lease outlasts our belief in it.
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
