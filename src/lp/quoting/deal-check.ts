/** Checks both legs of a deal by their USD values before anything is signed, independently of pricing. */

import type { Decline } from '../../domain/decline.ts';
import type { LpRisk } from '../config/risk-config.ts';
import { fatFinger } from '../risk/fat-finger.ts';
import type { QuoteRoute } from '../routes/route.ts';
import type { PricingContext } from './pricing-context.ts';

/** The result of the check while an asset of the pair has no USD price of its own. */
export const NO_REFERENCE = 'no_reference';

/** The market lost a price between two reads. Pricing made no mistake, so nobody is paged. */
export const NO_PRICE_NOW = {
  declined: 'stale_price',
  control: 'stale_mid',
  detail: 'an asset of the pair has no USD price now',
} as const satisfies Decline;

/** Returns what is wrong with the deal; undefined when it passes. */
export function checkDeal(
  context: Pick<PricingContext, 'usd'>,
  route: QuoteRoute,
  { input, output, spreadBps }: { input: bigint; output: bigint; spreadBps: number },
  limits: LpRisk['fatFinger'],
): string | undefined {
  const { base, quote } = route.pair;
  const inputUsd = context.usd(route.inputToken.symbol);
  const outputUsd = base === quote ? inputUsd : context.usd(route.outputToken.symbol);
  if (inputUsd === undefined || outputUsd === undefined) return NO_REFERENCE;
  const { minSpreadBps, maxSize } = route.params;
  return fatFinger(
    {
      input,
      output,
      spreadBps,
      inputDecimals: route.inputToken.decimals,
      outputDecimals: route.outputToken.decimals,
      inputUsd,
      outputUsd,
      minSpreadBps,
      maxUsd: maxSize,
    },
    limits,
  );
}
