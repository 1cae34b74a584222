/** Why a route venue quotes nothing now, by what it has answered lately: for the roster. */

import type { Clock } from '../../ports/clock.ts';

/** A venue that nobody has asked for this long is not called resting. */
const REMEMBERED_MS = 60_000;

export type Rests = ReturnType<typeof createRests>;

export function createRests(clock: Pick<Clock, 'monotonicMs'>) {
  const last = new Map<string, Map<string, { detail: string | null; atMs: number }>>();
  return {
    /** The last answer for a corridor; `detail` null: not that it rests. */
    note(venueId: string, corridor: string, detail: string | null): void {
      const known = last.get(venueId) ?? new Map<string, { detail: string | null; atMs: number }>();
      last.set(venueId, known.set(corridor, { detail, atMs: clock.monotonicMs() }));
    },
    /** Of a venue that rested wherever it was asked in the last minute. */
    of(venueId: string): string | undefined {
      const recent = [...(last.get(venueId)?.values() ?? [])].filter(
        ({ atMs }) => clock.monotonicMs() - atMs <= REMEMBERED_MS,
      );
      return recent.some(({ detail }) => detail === null) ? undefined : (recent.at(-1)?.detail ?? undefined);
    },
  };
}
