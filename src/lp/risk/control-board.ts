/**
 * Which risk controls are at work now, since when and why: one memory for metrics, the log and the operator.
 */

import { type Control, CONTROLS } from '../../domain/control.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';

export interface Tripped {
  control: Control;
  /** What about: a pair, a chain, a price; "requests" where it refuses one by one. */
  about: string;
  detail: string;
  sinceMs: number;
}

export interface Board {
  /** It refused a request. On the hot path. */
  refused(control: Control, detail: string): void;
  /**
   * What it holds back at this moment, by what it is about. What was held back before and is not named here
   * has passed.
   */
  holds(control: Control, now: ReadonlyMap<string, string>): void;
  tripped(): Tripped[];
}

/** A control that refuses one by one counts as tripped for this long after the last refusal. */
const RECENT_MS = 5_000;
export const REQUESTS = 'requests';
/** Of one control in one minute: a crowd of takers must not drown what else the log has to say. */
const TOLD_A_MINUTE = 10;

interface Row {
  held: Map<string, { detail: string; sinceMs: number }>;
  refusal: { detail: string; sinceMs: number; lastMs: number } | undefined;
  labels: { control: Control };
  told: { sinceMs: number; count: number };
}

export function createBoard({ clock, log, metrics }: { clock: Clock; log: Log; metrics: Metrics }): Board {
  const rows = new Map<Control, Row>(
    CONTROLS.map((control) => [
      control,
      { held: new Map(), refusal: undefined, labels: { control }, told: { sinceMs: 0, count: 0 } },
    ]),
  );
  const trips = metrics.counter('firmquote_lp_risk_trips_total', 'Times that a risk control came to work', [
    'control',
  ]);
  const refusals = metrics.counter(
    'firmquote_lp_risk_refusals_total',
    'Requests that a risk control refused',
    ['control'],
  );
  for (const { labels } of rows.values()) {
    trips.add(labels, 0);
    refusals.add(labels, 0);
  }

  const isRecent = ({ refusal }: Row): boolean =>
    refusal !== undefined && clock.monotonicMs() - refusal.lastMs <= RECENT_MS;
  metrics.gauge('firmquote_lp_risk_tripped', '1 while a risk control is at work', ['control'], (gauge) => {
    for (const row of rows.values()) gauge.set(row.held.size > 0 || isRecent(row) ? 1 : 0, row.labels);
  });

  /**
   * Says it, unless enough of this control was said in the last minute; what is left out is in the status and
   * the metrics.
   */
  function tell({ told, labels: { control } }: Row, say: () => void): void {
    const nowMs = clock.monotonicMs();
    if (nowMs - told.sinceMs > 60_000) [told.sinceMs, told.count] = [nowMs, 0];
    told.count += 1;
    if (told.count <= TOLD_A_MINUTE) say();
    else if (told.count === TOLD_A_MINUTE + 1)
      log.warn(
        { control },
        'this risk control comes and goes often: the log is silent about it for up to a minute, `firmquote lp limits` and the metrics are not',
      );
  }

  return {
    refused(control, detail) {
      const row = rows.get(control) as Row;
      refusals.add(row.labels);
      const nowMs = clock.monotonicMs();
      if (row.refusal !== undefined && isRecent(row)) {
        row.refusal.lastMs = nowMs;
        return;
      }
      row.refusal = { detail, sinceMs: clock.nowMs(), lastMs: nowMs };
      // A state that lasts was counted and told when it began.
      if (row.held.size > 0) return;
      trips.add(row.labels);
      log.warn({ control, detail }, 'a risk control refuses requests');
    },
    holds(control, now) {
      const row = rows.get(control) as Row;
      const { held, labels } = row;
      for (const about of held.keys()) {
        if (now.has(about)) continue;
        held.delete(about);
        tell(row, () => log.info({ control, about }, 'a risk control has let go'));
      }
      for (const [about, detail] of now) {
        const known = held.get(about);
        if (known !== undefined) {
          known.detail = detail;
          continue;
        }
        held.set(about, { detail, sinceMs: clock.nowMs() });
        trips.add(labels);
        tell(row, () => log.warn({ control, about, detail }, 'a risk control is at work'));
      }
    },
    tripped: () =>
      [...rows].flatMap(([control, row]) => [
        ...[...row.held].map(([about, { detail, sinceMs }]) => ({ control, about, detail, sinceMs })),
        ...(row.refusal !== undefined && isRecent(row)
          ? [{ control, about: REQUESTS, detail: row.refusal.detail, sinceMs: row.refusal.sinceMs }]
          : []),
      ]),
  };
}
