/** Tripped risk controls with time and reason, for metrics, log and operator. */

import { type Control, CONTROLS } from '../../domain/decline.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';

export interface TrippedControl {
  control: Control;
  /** A pair, a chain, a price; "requests" for a control that refuses single requests. */
  about: string;
  detail: string;
  sinceMs: number;
}

/** A control that refuses single requests counts as tripped for this long after the last refusal. */
const RECENT_MS = 5_000;
const REQUESTS = 'requests';
/** Each control logs at most this often, so that many takers cannot flood the log. */
const MAX_LOGS_PER_MINUTE = 10;

/** The reason stands before the first semicolon, its evidence after it. Numbers change all the time. */
const reasonOf = (detail: string): string => (detail.split(';', 1)[0] ?? '').replaceAll(/[\d.]+/g, '');

interface ControlState {
  held: Map<string, { detail: string; sinceMs: number }>;
  refusal: { detail: string; sinceMs: number; lastMs: number } | undefined;
  labels: { control: Control };
  logged: { sinceMs: number; count: number };
}

export interface ControlBoard {
  /** Counts a request that the control refused. */
  refused(control: Control, detail: string): void;
  /** Takes in all that the control holds back now, with notes; the rest has ended. */
  report(control: Control, now: ReadonlyMap<string, string>): void;
  tripped(): TrippedControl[];
}

export function createControlBoard({
  clock,
  log,
  metrics,
}: {
  clock: Clock;
  log: Log;
  metrics: Metrics;
}): ControlBoard {
  const rows = new Map<Control, ControlState>(
    CONTROLS.map((control) => [
      control,
      { held: new Map(), refusal: undefined, labels: { control }, logged: { sinceMs: 0, count: 0 } },
    ]),
  );
  const trips = metrics.counter('firmquote_lp_risk_trips_total', 'Times that a risk control tripped', {
    control: CONTROLS,
  });
  const refusals = metrics.counter('firmquote_lp_risk_refusals_total', 'Requests refused by a risk control', {
    control: CONTROLS,
  });

  const isRecent = ({ refusal }: ControlState): boolean =>
    refusal !== undefined && clock.monotonicMs() - refusal.lastMs <= RECENT_MS;
  metrics.gauge('firmquote_lp_risk_tripped', '1 while a risk control is tripped', ['control'], (gauge) => {
    for (const row of rows.values()) gauge.set(row.held.size > 0 || isRecent(row) ? 1 : 0, row.labels);
  });

  function logWithinRate({ logged, labels: { control } }: ControlState, write: () => void): void {
    const nowMs = clock.monotonicMs();
    if (nowMs - logged.sinceMs > 60_000) [logged.sinceMs, logged.count] = [nowMs, 0];
    logged.count += 1;
    if (logged.count <= MAX_LOGS_PER_MINUTE) write();
    else if (logged.count === MAX_LOGS_PER_MINUTE + 1)
      log.warn(
        { control },
        'this risk control changes often: not logged for up to a minute, see `firmquote lp limits`',
      );
  }

  return {
    refused(control, detail) {
      const row = rows.get(control) as ControlState;
      refusals.add(row.labels);
      const nowMs = clock.monotonicMs();
      if (row.refusal !== undefined && isRecent(row)) {
        row.refusal.lastMs = nowMs;
        return;
      }
      row.refusal = { detail, sinceMs: clock.nowMs(), lastMs: nowMs };
      // A lasting state was counted and logged when it began.
      if (row.held.size > 0) return;
      trips.add(row.labels);
      log.warn({ control, detail }, 'risk control refuses requests');
    },
    report(control, now) {
      const row = rows.get(control) as ControlState;
      const { held, labels } = row;
      for (const about of held.keys()) {
        if (now.has(about)) continue;
        held.delete(about);
        logWithinRate(row, () => log.info({ control, about }, 'risk control cleared'));
      }
      for (const [about, detail] of now) {
        const known = held.get(about);
        if (known !== undefined) {
          if (known.detail !== detail && reasonOf(known.detail) !== reasonOf(detail))
            logWithinRate(row, () =>
              log.warn({ control, about, detail }, 'risk control is tripped for another reason'),
            );
          known.detail = detail;
          continue;
        }
        held.set(about, { detail, sinceMs: clock.nowMs() });
        trips.add(labels);
        logWithinRate(row, () => log.warn({ control, about, detail }, 'risk control tripped'));
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
