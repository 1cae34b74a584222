/** Computes how long after its last valid second an order across chains may be filled. */

import { type Chain, crossLandingSeconds, type TokenInfo } from '../../domain/chain.ts';
import type { Prices } from './prices.ts';

/** Counts a tenth more than the amount is worth now: until the submission its price may rise above a step. */
export function landingSecondsOf(
  prices: Pick<Prices, 'estimateUsd'>,
  origin: Chain,
  token: TokenInfo,
  amount: bigint,
): number {
  const worth = prices.estimateUsd([[token, amount]]);
  return crossLandingSeconds(origin, worth === null ? undefined : worth * 1.1);
}
