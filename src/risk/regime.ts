/**
 * When a market runs wild. The market says when it does: the last minute far above the day, or one move that no calm
 * second makes. First we become careful; when it happens again soon, we stop for a while.
 */

export interface SpikeRule {
  /** A second spike within this time of the one before stops the pair … */
  againSeconds: number;
  /** … for this long. */
  haltSeconds: number;
}

export interface Regime {
  /** Spikes that were seen so far. */
  count: number;
  lastMs: number | undefined;
  /** Unix milliseconds. */
  haltedUntilMs: number;
}

/** Spikes of a pair since the start, and when the last one was. */
export interface Spikes {
  count: number;
  lastMs: number | undefined;
}

export const QUIET: Regime = { count: 0, lastMs: undefined, haltedUntilMs: 0 };

/** Takes new spikes in. Whoever looks rarely sees several at once: then they were soon after each other. */
export function spiked(regime: Regime, { count, lastMs = 0 }: Spikes, rule: SpikeRule): Regime {
  const fresh = count - regime.count;
  if (fresh <= 0) return regime;
  const again = fresh > 1 || (regime.lastMs !== undefined && lastMs - regime.lastMs <= rule.againSeconds * 1000);
  return { count, lastMs, haltedUntilMs: again ? Math.max(regime.haltedUntilMs, lastMs + rule.haltSeconds * 1000) : regime.haltedUntilMs };
}
