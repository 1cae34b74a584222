/** Freezes a pair after many fills on one side within seconds: informed flow, or a fault. */

export interface BurstRule {
  /** More fills than this on one side within the window freeze. */
  fills: number;
  /** So does a net position change of more than this, in the reference currency. */
  deltaUsd: number;
  withinSeconds: number;
  freezeSeconds: number;
}

export interface Fill {
  atMs: number;
  /** What the LP did with the base asset. */
  side: 'buy' | 'sell';
  usd: number;
}

export interface Burst {
  /** Within the window, oldest first. */
  fills: readonly Fill[];
  frozenUntilMs: number;
}

export const NO_FILLS: Burst = { fills: [], frozenUntilMs: 0 };

/** A freeze clears the fills that caused it: the next freeze needs its own burst. */
export function recordFill({ fills, frozenUntilMs }: Burst, fill: Fill, rule: BurstRule): Burst {
  const since = fill.atMs - rule.withinSeconds * 1000;
  const recent = [...fills.filter(({ atMs }) => atMs > since), fill];
  const sameSide = recent.filter(({ side }) => side === fill.side).length;
  const delta = recent.reduce((sum, { side, usd }) => sum + (side === 'buy' ? usd : -usd), 0);
  if (sameSide <= rule.fills && Math.abs(delta) <= rule.deltaUsd) return { fills: recent, frozenUntilMs };
  return { fills: [], frozenUntilMs: Math.max(frozenUntilMs, fill.atMs + rule.freezeSeconds * 1000) };
}
