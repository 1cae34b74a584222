/** How risk controls make a price more careful than the pricing model alone would. */

import type { Control } from '../../domain/control.ts';

export interface RiskAdjustment {
  /** Multiplies the volatility used for pricing. */
  sigmaFactor: number;
  /** Multiplies the largest size. */
  sizeFactor: number;
  /** Multiplies the share of the option value that is charged. */
  omegaFactor: number;
  /** Longest validity, unless the request demands more; undefined: as configured. */
  maxSeconds: number | undefined;
  /** The control that reduces sizes. */
  control?: Control;
}

export const NO_ADJUSTMENT: RiskAdjustment = {
  sigmaFactor: 1,
  sizeFactor: 1,
  omegaFactor: 1,
  maxSeconds: undefined,
};
