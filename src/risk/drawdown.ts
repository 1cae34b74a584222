/**
 * Losing money is a reason of its own: what we own, at the market, against the start of the hour and of the
 * day.
 */

export interface DrawdownRule {
  /** Losses in bps of net asset value from which on sizes are cut. */
  hourBps: number;
  dayBps: number;
  /** At this many times either, everything stops until the operator says otherwise. */
  killTimes: number;
}

/**
 * Net asset values in the reference currency that losses are measured from. Hours and days are those of UTC.
 */
export interface Marks {
  hour: { startMs: number; nav: number };
  day: { startMs: number; nav: number };
  /** Sizes are cut now. */
  cut: boolean;
}

export interface Loss {
  /** Negative: a gain. */
  hourBps: number;
  dayBps: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/**
 * Sizes come back when this much of the limit is free again: a loss that hovers at the limit does not
 * flicker.
 */
const BACK_AT = 0.5;

const startOf = (nowMs: number, length: number): number => nowMs - (nowMs % length);

/**
 * Begins to measure, or begins a new hour or day. Looking back never helps: within the hour and day the marks
 * stand.
 */
export function rolled(marks: Marks | undefined, nav: number, nowMs: number): Marks {
  const [hour, day] = [startOf(nowMs, HOUR_MS), startOf(nowMs, DAY_MS)];
  if (marks === undefined) return { hour: { startMs: hour, nav }, day: { startMs: day, nav }, cut: false };
  if (marks.hour.startMs === hour && marks.day.startMs === day) return marks;
  return {
    ...marks,
    hour: marks.hour.startMs === hour ? marks.hour : { startMs: hour, nav },
    day: marks.day.startMs === day ? marks.day : { startMs: day, nav },
  };
}

/** Money that the owner paid in (positive) or took out is neither gained nor lost. */
export function moved(marks: Marks, usd: number): Marks {
  return {
    ...marks,
    hour: { ...marks.hour, nav: marks.hour.nav + usd },
    day: { ...marks.day, nav: marks.day.nav + usd },
  };
}

export function lossOf({ hour, day }: Marks, nav: number): Loss {
  const bps = (from: number) => (from > 0 ? ((from - nav) / from) * 1e4 : 0);
  return { hourBps: bps(hour.nav), dayBps: bps(day.nav) };
}

/** What a loss asks for, and the marks that remember it. */
export function judged(
  marks: Marks,
  nav: number,
  rule: DrawdownRule,
): { marks: Marks; verdict: 'fine' | 'cut' | 'kill' } {
  const { hourBps, dayBps } = lossOf(marks, nav);
  const used = Math.max(hourBps / rule.hourBps, dayBps / rule.dayBps);
  const cut = used >= 1 || (marks.cut && used >= BACK_AT);
  return {
    marks: cut === marks.cut ? marks : { ...marks, cut },
    verdict: used >= rule.killTimes ? 'kill' : cut ? 'cut' : 'fine',
  };
}
