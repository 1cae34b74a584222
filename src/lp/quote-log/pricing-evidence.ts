/** Records where the inputs of one price came from, so that an explanation can show the sources. */

import type { Mid } from '../../pricing/mid.ts';
import type { ChainSight } from '../routes/chain-state.ts';
import type { CheckedReference } from '../market/symbol-price.ts';
import type { RiskAdjustment } from '../../risk/adjustment.ts';

/** Holds references: none of these objects changes afterwards. */
export interface PricingEvidence {
  atMs: number;
  mid: Mid;
  references: readonly CheckedReference[];
  adjustment: RiskAdjustment;
  origin: ChainSight;
  dest: ChainSight;
}
