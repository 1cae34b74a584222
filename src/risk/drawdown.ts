/** Drawdown: net asset value against the start of the hour and of the day. */

export interface DrawdownRule {
  /** Losses in bps of net asset value that cut sizes. */
  hourBps: number;
  dayBps: number;
  /** The kill switch engages when a loss reaches this many times either limit. */
  killTimes: number;
}

/** Losses are measured from these values, in the reference currency. Hours and days are UTC. */
export interface Marks {
  hour: { startMs: number; nav: number };
  day: { startMs: number; nav: number };
  cut: boolean;
}

export interface Loss {
  /** Negative: a gain. */
  hourBps: number;
  dayBps: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Hysteresis: sizes recover when the loss falls below this share of the limit. */
const BACK_AT = 0.5;

const startOf = (nowMs: number, length: number): number => nowMs - (nowMs % length);

/** Starts new marks at the first call and at each new hour or day. */
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

/** A deposit (positive) or withdrawal by the owner is neither gain nor loss. */
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
