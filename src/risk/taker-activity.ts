/**
 * Finds takers who use firm quotes as free options: they request many and accept few, or accept late and only
 * after the price has moved against us. Evidence decays exponentially.
 */

export interface TakerActivityRule {
  /** Idle: received more than this many seconds of firm quotes and accepted less than `acceptShare`. */
  liveSeconds: number;
  acceptShare: number;
  /** Late: accepted at least this many, on average after `lateShare` of their life, at a loss to us. */
  accepts: number;
  lateShare: number;
  /** Time constant of the decay. */
  memorySeconds: number;
}

/** Sums, each decayed to `atMs`. */
export interface TakerActivity {
  atMs: number;
  quotes: number;
  liveSeconds: number;
  accepts: number;
  /** Sum of delay over life of the quote. */
  lateness: number;
  /** Sum of our edge at mid when the taker accepted. */
  edgeBps: number;
}

export const NO_ACTIVITY: TakerActivity = {
  atMs: 0,
  quotes: 0,
  liveSeconds: 0,
  accepts: 0,
  lateness: 0,
  edgeBps: 0,
};

/** 1: the option premium rises; 2: tenors are short as well; 3: no quotes. */
export type Suspicion = 0 | 1 | 2 | 3;

/** Each step up takes this many times the evidence. */
const MORE_SECONDS = 4;
const MORE_ACCEPTS = 2;

export function faded(
  activity: TakerActivity,
  nowMs: number,
  { memorySeconds }: TakerActivityRule,
): TakerActivity {
  const elapsed = (nowMs - activity.atMs) / 1000;
  if (elapsed <= 0) return activity;
  const kept = Math.exp(-elapsed / memorySeconds);
  return {
    atMs: nowMs,
    quotes: activity.quotes * kept,
    liveSeconds: activity.liveSeconds * kept,
    accepts: activity.accepts * kept,
    lateness: activity.lateness * kept,
    edgeBps: activity.edgeBps * kept,
  };
}

/** Adds a quote. A further tenor of the same request adds only its extra seconds, and 0 to `quotes`. */
export function quoted(activity: TakerActivity, seconds: number, quotes: 0 | 1): TakerActivity {
  return { ...activity, quotes: activity.quotes + quotes, liveSeconds: activity.liveSeconds + seconds };
}

/** Accepted after `share` of its life, with `edgeBps` to us; `unused` seconds no longer count. */
export function accepted(
  activity: TakerActivity,
  { share, edgeBps, unused }: { share: number; edgeBps: number; unused: number },
): TakerActivity {
  return {
    ...activity,
    liveSeconds: Math.max(0, activity.liveSeconds - unused),
    accepts: activity.accepts + 1,
    lateness: activity.lateness + share,
    edgeBps: activity.edgeBps + edgeBps,
  };
}

/**
 * Measures an acceptance: after which share of its life the taker took the quote, and how many of the
 * `heldSeconds`, for which it held firm quotes of this request, it did not use.
 */
export function usageAt(
  {
    quotedAtMs,
    validUntilMs,
    heldSeconds,
  }: { quotedAtMs: number; validUntilMs: number; heldSeconds: number },
  nowMs: number,
): { share: number; unused: number } {
  const life = validUntilMs - quotedAtMs;
  const share = life > 0 ? Math.min(1, Math.max(0, (nowMs - quotedAtMs) / life)) : 1;
  return { share, unused: heldSeconds * (1 - share) };
}

/** The taker executed another LP's quote of the same request: it traded, so ours does not count. */
export function tradedElsewhere(activity: TakerActivity, seconds: number): TakerActivity {
  return {
    ...activity,
    quotes: Math.max(0, activity.quotes - 1),
    liveSeconds: Math.max(0, activity.liveSeconds - seconds),
  };
}

export function suspicion(
  { quotes, liveSeconds, accepts, lateness, edgeBps }: TakerActivity,
  rule: TakerActivityRule,
): Suspicion {
  const idle =
    accepts < rule.acceptShare * quotes
      ? steps(liveSeconds / rule.liveSeconds, MORE_SECONDS, liveSeconds > rule.liveSeconds)
      : 0;
  // Decayed counts fall just short of whole numbers, so half a trade is added.
  const late =
    accepts > 0 && lateness / accepts > rule.lateShare && edgeBps < 0
      ? steps((accepts + 0.5) / rule.accepts, MORE_ACCEPTS, accepts + 0.5 >= rule.accepts)
      : 0;
  return Math.max(idle, late) as Suspicion;
}

const steps = (evidence: number, more: number, enough: boolean): Suspicion =>
  !enough ? 0 : evidence < more ? 1 : evidence < more * more ? 2 : 3;
