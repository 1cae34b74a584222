/** Decides for one pair, from its volatility regime and bursts of acceptances, how carefully it is quoted. */

import { type FillBurst, NO_ACCEPTANCES } from './burst.ts';
import { CALM_MARKET, type Regime } from './regime.ts';

export interface PairRisk {
  regime: Regime;
  burst: FillBurst;
}

export const NEW_PAIR_RISK: PairRisk = { regime: CALM_MARKET, burst: NO_ACCEPTANCES };

/** Returns the control that stops quotes of the pair at this time; undefined when none does. */
export function pairStop({ regime, burst }: PairRisk, nowMs: number): 'burst' | 'vol_spike' | undefined {
  if (nowMs < burst.frozenUntilMs) return 'burst';
  return regime.level === 'stressed' && nowMs < regime.untilMs ? 'vol_spike' : undefined;
}
