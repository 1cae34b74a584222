/** Kind, venue and fees of each leg of a trade, for exports. */

import type { TradeLegName, TradeTerms } from '../../ports/stores/trades.ts';

/** Returns the legs; undefined for a route that was stored before the venue recorded legs. */
export function tradeLegs({ legs, lp, orderKind }: TradeTerms): readonly TradeLegName[] | undefined {
  if (legs !== undefined) return legs;
  return orderKind === 'rfq_direct' ? [{ kind: 'rfq', solverId: lp, dependsOn: [] }] : undefined;
}

/**
 * Writes the fees, such as "unknown > 0.3 USDC", in the order of `legsText`; "0" where a venue charges
 * nothing.
 */
export const legFeesText = (
  terms: TradeTerms,
  amountText: (fee: { asset: string; amount: string }) => string,
): string | undefined =>
  joined(tradeLegs(terms), ({ fees }) => (fees ? fees.map(amountText).join(' and ') || '0' : 'unknown'));

/** Writes the legs, such as "rfq:lp-1 > dex:uniswap-v2"; the slices of a split are joined by " + ". */
export const legsText = (terms: TradeTerms): string | undefined =>
  joined(tradeLegs(terms), ({ kind, solverId }) => `${kind}:${solverId}`);

const joined = (
  legs: readonly TradeLegName[] | undefined,
  text: (leg: TradeLegName) => string,
): string | undefined =>
  legs
    ?.map((leg, index) => `${index === 0 ? '' : leg.dependsOn.length === 0 ? ' + ' : ' > '}${text(leg)}`)
    .join('');
