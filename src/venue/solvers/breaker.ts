/** Takes a solver out of the fan-out after faults: longer each time, shorter again after a quiet spell. */

import type { BreakerOptions } from '../options.ts';

export type SolverFault = 'invalid' | 'fade';

export interface Breaker {
  /** Returns whether this fault opened it. */
  fault(kind: SolverFault, nowMs: number): boolean;
  /** Returns when it closes, in wall milliseconds; undefined while closed. */
  openUntil(nowMs: number): number | undefined;
  /** Returns the kind of fault that opened it last. */
  reason(): SolverFault | undefined;
  /** Returns whether the solver has been at fault recently. */
  underWatch(nowMs: number): boolean;
}

const WEIGHT: Record<SolverFault, number> = { invalid: 1, fade: 3 };

export function createBreaker({
  limit,
  halfLifeMs,
  firstCoolDownMs,
  longestCoolDownMs,
  forgiveAfterMs,
}: BreakerOptions): Breaker {
  let score = 0;
  let scoredAtMs = 0;
  let trips = 0;
  let untilMs = 0;
  let why: SolverFault | undefined;

  const decayed = (nowMs: number) => score * 2 ** (-Math.max(0, nowMs - scoredAtMs) / halfLifeMs);

  return {
    fault(kind, nowMs) {
      const forgiven = Math.floor(Math.max(0, nowMs - Math.max(untilMs, scoredAtMs)) / forgiveAfterMs);
      trips = Math.max(0, trips - forgiven);
      score = decayed(nowMs) + WEIGHT[kind];
      scoredAtMs = nowMs;
      if (score < limit || nowMs < untilMs) return false;
      untilMs = nowMs + Math.min(firstCoolDownMs * 2 ** trips, longestCoolDownMs);
      trips++;
      score = 0;
      why = kind;
      return true;
    },
    openUntil: (nowMs) => (nowMs < untilMs ? untilMs : undefined),
    reason: () => why,
    underWatch: (nowMs) => decayed(nowMs) >= limit / 4 || nowMs - untilMs < forgiveAfterMs / 4,
  };
}
