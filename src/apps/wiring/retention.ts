/** Deletes old rows in small batches. Any number of processes may run it. */

import { letGo, type Kept } from '../../adapters/postgres/retention.ts';
import type { Queryable } from '../../adapters/postgres/pool.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';

const DAY_MS = 86_400_000;
const BATCH = 500;
const EVERY_MS = 60_000;
const BUSY_MS = 1_000;

interface Retention {
  stop(): Promise<void>;
}

export function startRetention(
  { db, clock, log, metrics }: { db: Queryable; clock: Clock; log: Log; metrics: Metrics },
  days: Partial<Record<Kept, number | null>>,
  { everyMs = EVERY_MS, busyMs = BUSY_MS, batch = BATCH } = {},
): Retention {
  const deleted = metrics.counter('firmquote_database_rows_let_go_total', 'Old rows deleted by retention', [
    'table',
  ]);
  const rules = Object.entries(days).flatMap(([what, kept]) =>
    kept === null ? [] : [{ what: what as Kept, keptMs: kept * DAY_MS }],
  );
  for (const { what } of rules) deleted.add({ table: what }, 0);
  let stopped = false;
  let working: Promise<void> = Promise.resolve();
  let cancel = () => {};

  async function work(): Promise<boolean> {
    let more = false;
    for (const { what, keptMs } of rules) {
      if (stopped) return false;
      const rows = await letGo(db, what, clock.nowMs() - keptMs, batch);
      deleted.add({ table: what }, rows);
      more ||= rows >= batch;
    }
    return more;
  }

  async function runOnce(): Promise<void> {
    const more = await work().catch((error: unknown) => {
      log.warn({ error }, 'old rows could not be deleted; retrying');
      return false;
    });
    if (!stopped) schedule(more ? busyMs : everyMs);
  }

  function schedule(ms: number): void {
    cancel = clock.after(ms, () => {
      working = runOnce();
    });
  }
  schedule(busyMs);
  return {
    async stop() {
      stopped = true;
      cancel();
      await working;
    },
  };
}
