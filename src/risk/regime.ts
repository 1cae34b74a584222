/**
 * When a market runs wild: the last minute far above the day, or one move that no calm second makes. First we
 * become careful; when it happens again soon, we stop for a while.
 */

export interface SpikeRule {
  /** Trips when the volatility of the last minute is more than this many times that of the day. */
  sigmaTimes: number;
  /** Trips when the mid moves by more than this many standard deviations of one second. */
  tickTimes: number;
  /** Careful until nothing has tripped for this long. */
  calmSeconds: number;
  /** A second trip within this time of the one before stops the pair … */
  againSeconds: number;
  /** … for this long. */
  haltSeconds: number;
}

export interface Regime {
  mood: 'calm' | 'wild' | 'halted';
  /** Unix milliseconds; meaningless while calm. */
  untilMs: number;
  trippedAtMs: number | undefined;
  /** The last minute is above the day as of the last look: only the crossing trips. */
  above: boolean;
  /** The mid that the next move is measured from. */
  from: { mid: number; atMs: number } | undefined;
}

/** What a market looks like at one instant. */
export interface Sight {
  mid: number;
  /** Volatility of the last minute over that of the day. */
  wildness: number;
  /** One standard deviation of the mid over one second, in bps. */
  secondBps: number;
}

export const CALM_MARKET: Regime = {
  mood: 'calm',
  untilMs: 0,
  trippedAtMs: undefined,
  above: false,
  from: undefined,
};

const SECOND_MS = 1_000;

/** Looks at the market once more, as often as one likes: a move counts whole however it is cut into looks. */
export function look(
  regime: Regime,
  { mid, wildness, secondBps }: Sight,
  nowMs: number,
  rule: SpikeRule,
): Regime {
  const { from } = regime;
  const above = wildness > rule.sigmaTimes;
  // After a gap in the prices a larger move is no surprise.
  const seconds = from === undefined ? 1 : Math.max(1, (nowMs - from.atMs) / SECOND_MS);
  const moved =
    from !== undefined &&
    mid !== from.mid &&
    Math.abs(Math.log(mid / from.mid)) * 1e4 > rule.tickTimes * secondBps * Math.sqrt(seconds);
  const start =
    from === undefined || moved || nowMs - from.atMs >= SECOND_MS || nowMs < from.atMs
      ? { mid, atMs: nowMs }
      : from;
  const rested = relaxed(regime, nowMs);
  // Most looks find what the one before left: nothing is made anew for them.
  const seen: Regime =
    rested.above === above && rested.from === start ? rested : { ...rested, above, from: start };
  if (moved || (above && !regime.above)) return tripped(seen, nowMs, rule);
  if (above && seen.mood !== 'halted')
    return { ...seen, mood: 'wild', untilMs: nowMs + rule.calmSeconds * SECOND_MS };
  return seen;
}

function relaxed(regime: Regime, nowMs: number): Regime {
  return regime.mood !== 'calm' && nowMs >= regime.untilMs ? { ...regime, mood: 'calm' } : regime;
}

function tripped(regime: Regime, nowMs: number, rule: SpikeRule): Regime {
  const again =
    regime.trippedAtMs !== undefined && nowMs - regime.trippedAtMs <= rule.againSeconds * SECOND_MS;
  if (again || regime.mood === 'halted')
    return { ...regime, mood: 'halted', untilMs: nowMs + rule.haltSeconds * SECOND_MS, trippedAtMs: nowMs };
  return { ...regime, mood: 'wild', untilMs: nowMs + rule.calmSeconds * SECOND_MS, trippedAtMs: nowMs };
}
