/** Kind and venue of each leg of a trade, for exports. */

import type { TradeLegName, TradeTerms } from '../../ports/stores/trades.ts';

/** undefined for a route of a release that did not record its legs. */
export function tradeLegs({ legs, lp, orderKind }: TradeTerms): readonly TradeLegName[] | undefined {
  if (legs !== undefined) return legs;
  return orderKind === 'rfq_direct' ? [{ kind: 'rfq', solverId: lp, dependsOn: [] }] : undefined;
}

/** Such as "rfq:lp-1 > dex:uniswap-v2"; the slices of a split are joined by " + ". */
export const legsText = (terms: TradeTerms): string | undefined =>
  tradeLegs(terms)
    ?.map(
      ({ kind, solverId, dependsOn }, index) =>
        `${index === 0 ? '' : dependsOn.length === 0 ? ' + ' : ' > '}${kind}:${solverId}`,
    )
    .join('');
