/**
 * What our capital allows: net asset value bounds what may be out at once, and losing too much of it cuts
 * sizes, then stops us.
 */

import type { Money } from '../../inventory/event.ts';
import type { Cap, Limits } from '../../inventory/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';
import { judged, type Loss, lossOf, type Marks, moved, rolled } from '../../risk/drawdown.ts';
import type { KillSwitch } from './kill-switch.ts';
import type { createNav } from './nav.ts';
import type { LpRisk } from '../config/risk-config.ts';

export interface Capital {
  /** Measures anew. Call a few times a second. */
  look(): void;
  /** The owner paid in or took out. */
  moved(money: Money): void;
  /** The operator knows of the losses and goes on: they are measured from here. */
  forgive(): void;
  /** Sizes are cut. */
  readonly cut: boolean;
  status(): { navUsd: number | null; loss: Loss | null };
  /** The configured caps with those that net asset value adds. */
  limits(): Limits;
  restore(saved: unknown): void;
  flush(store: Pick<LpStore, 'putRisk'>): Promise<void>;
}

export interface CapitalDeps {
  nav: ReturnType<typeof createNav>;
  kill: Pick<KillSwitch, 'engage' | 'held'>;
  clock: Clock;
  /** Which asset a token is, and its decimals. */
  assetOf(chainId: number, token: string): { asset: string; decimals: number } | undefined;
  /** Puts caps in force. */
  setLimits(limits: Limits): void;
  risk(): LpRisk;
  /** From the configuration alone. */
  configured(): Limits;
}

export const DRAWDOWN = 'drawdown';
/** Caps follow the capital when it has changed by this share. */
const WORTH_IT = 0.001;
const SAVE_EVERY_MS = 5_000;
const MICRO = 1e6;

/**
 * What a crash must not wipe out: how far the hour and the day are in loss. Prices and trades while we were
 * away are left out.
 */
interface Saved {
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
  let saved: Saved | undefined;
  let savedAtMs = 0;
  let limitedBy: { nav: number; risk: LpRisk; configured: Limits } | undefined;
  let pending = 0;

  function limits(): Limits {
    const { totalBps, gapLoss } = risk();
    const base = configured();
    // Before anything has a price nothing can be promised, so nothing may be.
    const share = (bps: number): bigint => BigInt(Math.floor((Math.max(0, last ?? 0) * bps * MICRO) / 1e4));
    const total: Cap =
      totalBps === null
        ? { ...base.total }
        : { ...base.total, notional: least(base.total?.notional, share(totalBps)) };
    return {
      ...base,
      total,
      perAssetSide: {
        ...base.perAssetSide,
        gapLoss: least(base.perAssetSide?.gapLoss, share(gapLoss.budgetBps)),
      },
    };
  }

  function apply(): void {
    const now = { nav: last ?? 0, risk: risk(), configured: configured() };
    const known = limitedBy;
    if (
      known !== undefined &&
      known.risk === now.risk &&
      known.configured === now.configured &&
      Math.abs(now.nav - known.nav) <= WORTH_IT * known.nav
    )
      return;
    limitedBy = now;
    setLimits(limits());
  }

  /** The marks of the last process, moved to where the same losses stand against what we own now. */
  function resumed(from: Saved, usd: number): Marks {
    return {
      hour: { startMs: from.hour.startMs, nav: usd + from.hour.loss },
      day: { startMs: from.day.startMs, nav: usd + from.day.loss },
      cut: false,
    };
  }

  return {
    look() {
      const { usd, complete } = nav.now();
      if (complete) {
        last = usd;
        if (saved !== undefined) marks = resumed(saved, usd);
        saved = undefined;
        marks = rolled(marks === undefined ? undefined : moved(marks, pending), usd, clock.nowMs());
        pending = 0;
        const { marks: next, verdict } = judged(marks, usd, risk().drawdown);
        marks = next;
        const { hourBps, dayBps } = lossOf(marks, usd);
        if (verdict === 'kill' && !kill.held.has('drawdown'))
          kill.engage('drawdown', `lost ${hourBps.toFixed(0)} bps this hour, ${dayBps.toFixed(0)} bps today`);
      }
      apply();
    },
    moved({ chainId, token, amount }) {
      const found = assetOf(chainId, token);
      if (found !== undefined) pending += nav.worth(found.asset, amount, found.decimals);
    },
    forgive() {
      marks = undefined;
      savedAtMs = 0;
    },
    get cut() {
      return marks?.cut === true;
    },
    status: () => ({
      navUsd: last ?? null,
      loss: marks === undefined || last === undefined ? null : lossOf(marks, last),
    }),
    limits,
    restore(value) {
      if (isSaved(value)) saved = value;
    },
    async flush(store) {
      if (marks === undefined || last === undefined || clock.nowMs() - savedAtMs < SAVE_EVERY_MS) return;
      savedAtMs = clock.nowMs();
      const { hour, day } = marks;
      const value: Saved = {
        hour: { startMs: hour.startMs, loss: hour.nav - last },
        day: { startMs: day.startMs, loss: day.nav - last },
      };
      await store.putRisk(DRAWDOWN, value);
    },
  };
}

const least = (a: bigint | undefined, b: bigint): bigint => (a !== undefined && a < b ? a : b);

function isSaved(value: unknown): value is Saved {
  const part = (one: unknown) =>
    typeof one === 'object' &&
    one !== null &&
    ['startMs', 'loss'].every((key) => Number.isFinite((one as Record<string, unknown>)[key]));
  return (
    typeof value === 'object' && value !== null && part((value as Saved).hour) && part((value as Saved).day)
  );
}
