/**
 * Combines risk controls into one adjustment that makes a price more careful than the pricing model alone
 * would.
 */

import type { Control } from '../domain/decline.ts';
import type { Suspicion } from './taker-activity.ts';

export interface RiskAdjustment {
  sigmaFactor: number;
  sizeFactor: number;
  omegaFactor: number;
  /** Longest validity; a request that demands more is declined. undefined: as configured. */
  maxSeconds: number | undefined;
  control?: Control;
}

export const NO_ADJUSTMENT: RiskAdjustment = {
  sigmaFactor: 1,
  sizeFactor: 1,
  omegaFactor: 1,
  maxSeconds: undefined,
};

/** The factors that an operator sets for each cause of an adjustment. */
export interface AdjustmentRule {
  volSpike: { sigmaFactor: number; sizeFactor: number };
  freeOption: { omegaFactor: number };
  drawdown: { sizeFactor: number };
  /** Validity in a volatile market, and for a taker at suspicion 2. */
  leastValiditySeconds: number;
}

/** The causes that make a quote more careful. A taker at suspicion 3 gets no quote. */
interface AdjustmentCauses {
  volatile: boolean;
  suspicion: Exclude<Suspicion, 3>;
  /** Losses have cut sizes. */
  reduced: boolean;
}

/** Causes multiply: each factor applies whatever the other causes are. */
export function adjustmentFor(
  { volSpike, freeOption, drawdown, leastValiditySeconds }: AdjustmentRule,
  { volatile, suspicion, reduced }: AdjustmentCauses,
): RiskAdjustment {
  return {
    sigmaFactor: volatile ? volSpike.sigmaFactor : 1,
    sizeFactor: (volatile ? volSpike.sizeFactor : 1) * (reduced ? drawdown.sizeFactor : 1),
    omegaFactor: suspicion > 0 ? freeOption.omegaFactor : 1,
    maxSeconds: volatile || suspicion > 1 ? leastValiditySeconds : undefined,
    ...((volatile || reduced) && { control: volatile ? 'vol_spike' : 'drawdown' }),
  };
}
