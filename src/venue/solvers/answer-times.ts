/** Counts by hour how fast solvers answer, for the firmness view. Prometheus has the same by replica. */

import type { FirmnessStore } from '../../ports/stores/firmness.ts';
import type { VenueDeps } from '../deps.ts';

/** Upper ends in milliseconds; the last bucket has none. */
const BOUNDS_MS = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 2_000,
] as const;
const FLUSH_MS = 10_000;
const HOUR_MS = 3_600_000;

export interface AnswerTimes {
  record(solverId: string, ms: number): void;
  start(): void;
  stop(): Promise<void>;
}

export const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS);

/**
 * Returns the time within which this share of the answers came: the upper end of its bucket. null: none came,
 * or it is beyond the last bound.
 */
export function quantileMs(counts: readonly { bucket: number; n: number }[], share: number): number | null {
  const total = counts.reduce((sum, { n }) => sum + n, 0);
  let seen = 0;
  for (const { bucket, n } of counts.toSorted((a, b) => a.bucket - b.bucket)) {
    seen += n;
    if (seen >= share * total) return BOUNDS_MS[bucket] ?? null;
  }
  return null;
}

export function createAnswerTimes({
  store,
  clock,
  log,
}: Pick<VenueDeps, 'clock' | 'log'> & { store: Pick<FirmnessStore, 'addAnswers'> }): AnswerTimes {
  /** The counts since the last flush, by solver and bucket. */
  let counts = new Map<string, Map<number, number>>();
  let cancel = () => {};

  async function flush(): Promise<void> {
    if (counts.size === 0) return;
    const hour = hourOf(clock.nowMs());
    const rows = [...counts].flatMap(([solverId, buckets]) =>
      [...buckets].map(([bucket, n]) => ({ solverId, hour, bucket, n })),
    );
    counts = new Map();
    // A lost flush is ten seconds of statistics.
    await store
      .addAnswers(rows)
      .catch((error: unknown) => log.warn({ error }, 'answer times of solvers could not be stored'));
  }

  function schedule(): void {
    cancel = clock.after(FLUSH_MS, () => void flush().finally(schedule));
  }

  return {
    record(solverId: string, ms: number): void {
      const found = BOUNDS_MS.findIndex((bound) => ms <= bound);
      const bucket = found === -1 ? BOUNDS_MS.length : found;
      const buckets = counts.get(solverId) ?? new Map<number, number>();
      counts.set(solverId, buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1));
    },
    start: schedule,
    async stop(): Promise<void> {
      cancel();
      await flush();
    },
  };
}
