/**
 * The volatility regime of one market. A volatile minute or one large move makes it elevated; a second spike
 * soon after makes it stressed, which stops the pair.
 */

export interface SpikeRule {
  /** Trips when the volatility of the last minute is more than this many times that of the day. */
  sigmaTimes: number;
  /** Trips when the mid moves by more than this many standard deviations of one second. */
  tickTimes: number;
  /** Elevated until nothing has tripped for this long. */
  calmSeconds: number;
  /** A second trip within this time is stressed. */
  againSeconds: number;
  /** The regime is stressed for this long. */
  haltSeconds: number;
}

export interface Regime {
  level: 'calm' | 'elevated' | 'stressed';
  /** Unix milliseconds; meaningless while calm. */
  untilMs: number;
  trippedAtMs: number | undefined;
  /** The volatility ratio was above `sigmaTimes` at the last update: only the crossing trips. */
  above: boolean;
  /** The next move is measured from this mid. */
  from: { mid: number; atMs: number } | undefined;
}

interface MarketSample {
  mid: number;
  /** Volatility of the last minute over that of the day. */
  volatilityRatio: number;
  /** One standard deviation of the mid over one second, in bps. */
  secondBps: number;
}

export const CALM_MARKET: Regime = {
  level: 'calm',
  untilMs: 0,
  trippedAtMs: undefined,
  above: false,
  from: undefined,
};

const SECOND_MS = 1_000;

/** A move within one second counts as one move, however many samples it spans. */
export function updateRegime(
  regime: Regime,
  { mid, volatilityRatio, secondBps }: MarketSample,
  nowMs: number,
  rule: SpikeRule,
): Regime {
  const { from } = regime;
  const above = volatilityRatio > rule.sigmaTimes;
  // Larger moves are normal after a gap in the prices.
  const seconds = from === undefined ? 1 : Math.max(1, (nowMs - from.atMs) / SECOND_MS);
  const moved =
    from !== undefined &&
    mid !== from.mid &&
    Math.abs(Math.log(mid / from.mid)) * 1e4 > rule.tickTimes * secondBps * Math.sqrt(seconds);
  const start =
    from === undefined || moved || nowMs - from.atMs >= SECOND_MS || nowMs < from.atMs
      ? { mid, atMs: nowMs }
      : from;
  const relaxedRegime = relaxed(regime, nowMs);
  // Called for every quote: allocates nothing when nothing changed.
  const seen: Regime =
    relaxedRegime.above === above && relaxedRegime.from === start
      ? relaxedRegime
      : { ...relaxedRegime, above, from: start };
  if (moved || (above && !regime.above)) return tripped(seen, nowMs, rule);
  if (above && seen.level !== 'stressed')
    return { ...seen, level: 'elevated', untilMs: nowMs + rule.calmSeconds * SECOND_MS };
  return seen;
}

function relaxed(regime: Regime, nowMs: number): Regime {
  return regime.level !== 'calm' && nowMs >= regime.untilMs ? { ...regime, level: 'calm' } : regime;
}

function tripped(regime: Regime, nowMs: number, rule: SpikeRule): Regime {
  const again =
    regime.trippedAtMs !== undefined && nowMs - regime.trippedAtMs <= rule.againSeconds * SECOND_MS;
  if (again || regime.level === 'stressed')
    return {
      ...regime,
      level: 'stressed',
      untilMs: nowMs + rule.haltSeconds * SECOND_MS,
      trippedAtMs: nowMs,
    };
  return { ...regime, level: 'elevated', untilMs: nowMs + rule.calmSeconds * SECOND_MS, trippedAtMs: nowMs };
}
