/**
 * How a taker uses the options that our quotes are. Who asks for many and takes none, or takes only at the
 * last second and only when the price has moved against us, holds options and does not trade. All evidence
 * fades with time.
 */

export interface ConductRule {
  /** Asked for more than this many seconds of firm quotes … */
  liveSeconds: number;
  /** … and took fewer than this share of them. */
  acceptShare: number;
  /** Or: took at least this many, … */
  accepts: number;
  /** … on average after more than this share of their life, at prices that were bad for us by then. */
  lateShare: number;
  /** Evidence is worth 1/e after this long. */
  memorySeconds: number;
}

/** Sums over what is remembered, each faded to `atMs`. */
export interface Conduct {
  atMs: number;
  quotes: number;
  liveSeconds: number;
  accepts: number;
  /** Of delay over life of the quote. */
  lateness: number;
  /** Of what the trade was worth to us at mid when it was taken, in bps. */
  markBps: number;
}

export const UNKNOWN: Conduct = { atMs: 0, quotes: 0, liveSeconds: 0, accepts: 0, lateness: 0, markBps: 0 };

/** 1: its options cost more; 2: they are short as well; 3: it gets none. */
export type Suspicion = 0 | 1 | 2 | 3;

/** Each step up takes this much more: an honest taker in a quiet hour never gets far. */
const MORE_SECONDS = 4;
const MORE_ACCEPTS = 2;

export function faded(conduct: Conduct, nowMs: number, { memorySeconds }: ConductRule): Conduct {
  const elapsed = (nowMs - conduct.atMs) / 1000;
  if (elapsed <= 0) return conduct;
  const kept = Math.exp(-elapsed / memorySeconds);
  return {
    atMs: nowMs,
    quotes: conduct.quotes * kept,
    liveSeconds: conduct.liveSeconds * kept,
    accepts: conduct.accepts * kept,
    lateness: conduct.lateness * kept,
    markBps: conduct.markBps * kept,
  };
}

/**
 * One more quote, firm for `seconds`. A further answer to the same request adds only the time by which it is
 * longer, and no quote.
 */
export function quoted(conduct: Conduct, seconds: number, quotes: 0 | 1): Conduct {
  return { ...conduct, quotes: conduct.quotes + quotes, liveSeconds: conduct.liveSeconds + seconds };
}

/**
 * Taken after `share` of its life, worth `markBps` to us at that instant; `unused` seconds of it were not
 * needed.
 */
export function accepted(
  conduct: Conduct,
  { share, markBps, unused }: { share: number; markBps: number; unused: number },
): Conduct {
  return {
    ...conduct,
    liveSeconds: Math.max(0, conduct.liveSeconds - unused),
    accepts: conduct.accepts + 1,
    lateness: conduct.lateness + share,
    markBps: conduct.markBps + markBps,
  };
}

/** It took another quote of the same request, on chain: it traded, only not with us. */
export function tradedElsewhere(conduct: Conduct, seconds: number): Conduct {
  return {
    ...conduct,
    quotes: Math.max(0, conduct.quotes - 1),
    liveSeconds: Math.max(0, conduct.liveSeconds - seconds),
  };
}

export function suspicion(
  { quotes, liveSeconds, accepts, lateness, markBps }: Conduct,
  rule: ConductRule,
): Suspicion {
  const idle =
    accepts < rule.acceptShare * quotes
      ? steps(liveSeconds / rule.liveSeconds, MORE_SECONDS, liveSeconds > rule.liveSeconds)
      : 0;
  // Faded counts fall just short of whole ones; half a trade is no trade.
  const late =
    accepts > 0 && lateness / accepts > rule.lateShare && markBps < 0
      ? steps((accepts + 0.5) / rule.accepts, MORE_ACCEPTS, accepts + 0.5 >= rule.accepts)
      : 0;
  return Math.max(idle, late) as Suspicion;
}

const steps = (evidence: number, more: number, enough: boolean): Suspicion =>
  !enough ? 0 : evidence < more ? 1 : evidence < more * more ? 2 : 3;
