/** Runs the risk controls of a simulated LP: the rules of the live LP, on state in memory. */

import type { Decline } from '../../domain/decline.ts';
import { limitsByCapital, type Limits } from '../../inventory/limits.ts';
import { type RiskAdjustment, adjustmentFor, NO_ADJUSTMENT } from '../../risk/adjustment.ts';
import { judged, type Marks, rolled } from '../../risk/drawdown.ts';
import { type PairRisk, pairStop } from '../../risk/pair-risk.ts';
import { fullBucket, takeToken, type Tokens } from '../../risk/rate.ts';
import {
  faded,
  NO_ACTIVITY,
  type Suspicion,
  suspicion,
  type TakerActivity,
} from '../../risk/taker-activity.ts';
import type { SimRisk } from './setup.ts';

const NAV_EVERY_MS = 60_000;
const RATE_LIMIT: Decline = { declined: 'limit', control: 'rate_limit' };
const FREE_OPTION: Decline = { declined: 'limit', control: 'free_option' };
const KILLED: Decline = { declined: 'standby', control: 'kill_switch' };

interface TakerState {
  tokens: Tokens;
  activity: TakerActivity;
}

export interface ControlState {
  takers: Map<string, TakerState>;
  marks: Marks | undefined;
  /** The time when net asset value was last measured. */
  navAtMs: number;
  /** A drawdown engaged the kill switch, which nobody releases in a simulation. */
  killed: boolean;
}

export const newControls = (): ControlState => ({
  takers: new Map(),
  marks: undefined,
  navAtMs: Number.NEGATIVE_INFINITY,
  killed: false,
});

/** Counts a request of the taker, and says how careful its quotes must be. */
export function admitRequest(
  risk: SimRisk | null,
  controls: ControlState,
  { taker, pair, atMs }: { taker: string; pair: PairRisk; atMs: number },
): RiskAdjustment | Decline {
  if (risk === null) return NO_ADJUSTMENT;
  if (controls.killed) return KILLED;
  const suspect = countRequest(risk, controls, taker, atMs);
  if (typeof suspect !== 'number') return suspect;
  const control = pairStop(pair, atMs);
  if (control !== undefined) return { declined: 'standby', control };
  return adjustmentFor(risk, {
    volatile: pair.regime.level === 'elevated',
    suspicion: suspect,
    reduced: controls.marks?.cut === true,
  });
}

function countRequest(
  risk: SimRisk,
  controls: ControlState,
  taker: string,
  atMs: number,
): Exclude<Suspicion, 3> | Decline {
  const one = takerOf(risk, controls, taker, atMs);
  if (!takeToken(one.tokens, atMs, risk.rate)) return RATE_LIMIT;
  one.activity = faded(one.activity, atMs, risk.freeOption);
  const suspect = suspicion(one.activity, risk.freeOption);
  return suspect === 3 ? FREE_OPTION : suspect;
}

/** Changes what is known of the taker's use of firm quotes. */
export function updateActivity(
  risk: SimRisk | null,
  controls: ControlState,
  { taker, atMs }: { taker: string; atMs: number },
  update: (activity: TakerActivity) => TakerActivity,
): void {
  if (risk === null) return;
  const one = takerOf(risk, controls, taker, atMs);
  one.activity = update(faded(one.activity, atMs, risk.freeOption));
}

function takerOf(risk: SimRisk, { takers }: ControlState, taker: string, atMs: number): TakerState {
  const found = takers.get(taker);
  if (found !== undefined) return found;
  const one = { tokens: fullBucket(risk.rate, atMs), activity: { ...NO_ACTIVITY, atMs } };
  takers.set(taker, one);
  return one;
}

/** Judges losses once a minute, and returns the limits that net asset value allows. */
export function measureCapital(
  risk: SimRisk | null,
  controls: ControlState,
  { navUsd, limits, atMs }: { navUsd: () => number; limits: Limits; atMs: number },
): Limits | undefined {
  if (risk === null || atMs < controls.navAtMs + NAV_EVERY_MS) return undefined;
  controls.navAtMs = atMs;
  const nav = navUsd();
  const { marks, verdict } = judged(rolled(controls.marks, nav, atMs), nav, risk.drawdown);
  controls.marks = marks;
  controls.killed ||= verdict === 'kill';
  return limitsByCapital(limits, nav, { totalBps: risk.totalBps, gapLossBps: risk.gapLoss.budgetBps });
}
