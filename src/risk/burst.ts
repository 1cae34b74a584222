/** Freezes a pair after many acceptances on one side within seconds: informed flow, or a fault. */

export interface BurstRule {
  /** More acceptances than this on one side within the window freeze quotes. */
  fills: number;
  /** So does a net position change of more than this, in the reference currency. */
  deltaUsd: number;
  withinSeconds: number;
  freezeSeconds: number;
}

export interface Acceptance {
  atMs: number;
  /** Says whether the LP bought or sold the base asset. */
  side: 'buy' | 'sell';
  usd: number;
}

export interface FillBurst {
  /** The acceptances within the window, oldest first. */
  acceptances: readonly Acceptance[];
  frozenUntilMs: number;
}

export const NO_ACCEPTANCES: FillBurst = { acceptances: [], frozenUntilMs: 0 };

/** A freeze clears the acceptances that caused it: the next freeze needs its own burst. */
export function recordAcceptance(
  { acceptances, frozenUntilMs }: FillBurst,
  accepted: Acceptance,
  rule: BurstRule,
): FillBurst {
  const since = accepted.atMs - rule.withinSeconds * 1000;
  const recent = [...acceptances.filter(({ atMs }) => atMs > since), accepted];
  const sameSide = recent.filter(({ side }) => side === accepted.side).length;
  const delta = recent.reduce((sum, { side, usd }) => sum + (side === 'buy' ? usd : -usd), 0);
  if (sameSide <= rule.fills && Math.abs(delta) <= rule.deltaUsd)
    return { acceptances: recent, frozenUntilMs };
  return {
    acceptances: [],
    frozenUntilMs: Math.max(frozenUntilMs, accepted.atMs + rule.freezeSeconds * 1000),
  };
}
