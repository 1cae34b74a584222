/** Explains for the roster why a route venue quotes nothing now, from its recent answers. */

import type { Clock } from '../../ports/clock.ts';

/** A venue that was not asked for this long is not called on standby. */
const REMEMBERED_MS = 60_000;

export interface StandbyVenues {
  /** The last answer of a venue for a corridor. `detail`: why it is on standby; null: it quotes. */
  note(venueId: string, corridor: string, detail: string | null): void;
  /** Returns why a venue is on standby that was so wherever it was asked in the last minute. */
  of(venueId: string): string | undefined;
}

export function createStandbyVenues(clock: Pick<Clock, 'monotonicMs'>): StandbyVenues {
  const last = new Map<string, Map<string, { detail: string | null; atMs: number }>>();
  return {
    note(venueId, corridor, detail) {
      const known = last.get(venueId) ?? new Map<string, { detail: string | null; atMs: number }>();
      last.set(venueId, known.set(corridor, { detail, atMs: clock.monotonicMs() }));
    },
    of(venueId) {
      const recent = [...(last.get(venueId)?.values() ?? [])].filter(
        ({ atMs }) => clock.monotonicMs() - atMs <= REMEMBERED_MS,
      );
      return recent.some(({ detail }) => detail === null) ? undefined : (recent.at(-1)?.detail ?? undefined);
    },
  };
}
