/**
 * Limits from capital: net asset value (NAV) bounds live quotes; drawdown cuts sizes, then engages the kill
 * switch.
 */

import type { Money } from '../../inventory/event.ts';
import { type Limits, limitsByCapital } from '../../inventory/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';
import { judged, type Loss, lossOf, type Marks, moved, rolled } from '../../risk/drawdown.ts';
import type { KillSwitch } from './kill-switch.ts';
import type { Nav } from './nav.ts';
import type { LpRisk } from '../config/risk-config.ts';

export interface Capital {
  /** true while losses cut the sizes of quotes. */
  readonly sizesReduced: boolean;
  /** Measures NAV and losses. Call a few times a second. */
  update(): void;
  /** The owner deposited or withdrew: no gain and no loss. */
  moved(money: Money): void;
  /** Restarts the measurement: the operator resumed despite earlier losses. */
  forgive(): void;
  /** `loss` is negative for a gain; both are null until every asset has had a price. */
  status(): { navUsd: number | null; loss: Loss | null };
  /** The configured limits, as far as NAV covers them. */
  limits(): Limits;
  /** Loads stored losses, at start. */
  restore(value: unknown): void;
  /** Stores the losses every few seconds. Rejects when the store does. */
  flush(store: Pick<LpStore, 'putRisk'>): Promise<void>;
}

interface CapitalDeps {
  nav: Nav;
  kill: Pick<KillSwitch, 'engage' | 'held'>;
  clock: Clock;
  assetOf(chainId: number, token: string): { asset: string; decimals: number } | undefined;
  setLimits(limits: Limits): void;
  risk(): LpRisk;
  configured(): Limits;
}

export const DRAWDOWN = 'drawdown';
/** Limits follow NAV when it has changed by this share. */
const NAV_CHANGE = 0.001;
const SAVE_EVERY_MS = 5_000;

/** Losses of hour and day survive a crash. Price moves during the downtime do not count. */
interface StoredLosses {
  hour: { startMs: number; loss: number };
  day: { startMs: number; loss: number };
}

export function createCapital({
  nav,
  kill,
  clock,
  assetOf,
  setLimits,
  risk,
  configured,
}: CapitalDeps): Capital {
  let marks: Marks | undefined;
  let last: number | undefined;
  let saved: StoredLosses | undefined;
  let savedAtMs = 0;
  let limitedBy: { nav: number; risk: LpRisk; configured: Limits } | undefined;
  let pending = 0;

  function limits(): Limits {
    const { totalBps, gapLoss } = risk();
    // Before anything has a price NAV is 0, so nothing may be quoted.
    return limitsByCapital(configured(), last ?? 0, { totalBps, gapLossBps: gapLoss.budgetBps });
  }

  function applyLimits(): void {
    const now = { nav: last ?? 0, risk: risk(), configured: configured() };
    const applied = limitedBy;
    if (
      applied !== undefined &&
      applied.risk === now.risk &&
      applied.configured === now.configured &&
      Math.abs(now.nav - applied.nav) <= NAV_CHANGE * applied.nav
    )
      return;
    limitedBy = now;
    setLimits(limits());
  }

  function marksFrom(from: StoredLosses, usd: number): Marks {
    return {
      hour: { startMs: from.hour.startMs, nav: usd + from.hour.loss },
      day: { startMs: from.day.startMs, nav: usd + from.day.loss },
      cut: false,
    };
  }

  return {
    update() {
      const { usd, complete } = nav.now();
      if (complete) {
        last = usd;
        if (saved !== undefined) marks = marksFrom(saved, usd);
        saved = undefined;
        marks = rolled(marks === undefined ? undefined : moved(marks, pending), usd, clock.nowMs());
        pending = 0;
        const { marks: next, verdict } = judged(marks, usd, risk().drawdown);
        marks = next;
        const { hourBps, dayBps } = lossOf(marks, usd);
        if (verdict === 'kill' && !kill.held.has('drawdown'))
          kill.engage('drawdown', `lost ${hourBps.toFixed(0)} bps this hour, ${dayBps.toFixed(0)} bps today`);
      }
      applyLimits();
    },
    moved({ chainId, token, amount }) {
      const found = assetOf(chainId, token);
      if (found !== undefined) pending += nav.worth(found.asset, amount, found.decimals);
    },
    forgive() {
      marks = undefined;
      savedAtMs = 0;
    },
    get sizesReduced() {
      return marks?.cut === true;
    },
    status: () => ({
      navUsd: last ?? null,
      loss: marks === undefined || last === undefined ? null : lossOf(marks, last),
    }),
    limits,
    restore(value) {
      if (isStoredLosses(value)) saved = value;
    },
    async flush(store) {
      if (marks === undefined || last === undefined || clock.nowMs() - savedAtMs < SAVE_EVERY_MS) return;
      savedAtMs = clock.nowMs();
      const { hour, day } = marks;
      const value: StoredLosses = {
        hour: { startMs: hour.startMs, loss: hour.nav - last },
        day: { startMs: day.startMs, loss: day.nav - last },
      };
      await store.putRisk(DRAWDOWN, value);
    },
  };
}

function isStoredLosses(value: unknown): value is StoredLosses {
  const part = (one: unknown) =>
    typeof one === 'object' &&
    one !== null &&
    ['startMs', 'loss'].every((key) => Number.isFinite((one as Record<string, unknown>)[key]));
  return (
    typeof value === 'object' &&
    value !== null &&
    part((value as StoredLosses).hour) &&
    part((value as StoredLosses).day)
  );
}
