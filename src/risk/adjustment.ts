/** How risk controls make a price more careful than the pricing model alone would. */

import type { Control } from '../domain/decline.ts';

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
