/** The price that a route lacks: of its pair, or of the gas that its orders cost us. */

import { isDecline } from '../../domain/decline.ts';
import type { Market } from '../market/market.ts';
import { type ChainState, gasPriceOf } from '../routes/chain-state.ts';
import type { QuoteRoute } from '../routes/route.ts';
import type { StandbyReason } from './standby-reason.ts';

interface Prices {
  market: Market;
  chains: ReadonlyMap<number, ChainState>;
}

export const whyUnpriced = (prices: Prices, route: QuoteRoute): StandbyReason | undefined =>
  pairReason(prices, route) ?? gasReason(prices, route);

function pairReason(
  { market }: Prices,
  { pair: { base, quote }, pairName }: QuoteRoute,
): StandbyReason | undefined {
  const condition = market.condition(base, quote);
  if (condition?.blocks !== true && !isDecline(market.pair(base, quote))) return undefined;
  return {
    kind: 'price',
    note: `${pairName}: ${condition?.detail ?? 'no price yet'}`,
    ...(condition !== undefined && { control: condition.code }),
  };
}

/** Our gas across chains is part of the price, so the native currency needs one too. */
function gasReason(
  { market, chains }: Prices,
  { origin, dest, sameChain, pairName }: QuoteRoute,
): StandbyReason | undefined {
  if (sameChain) return undefined;
  for (const { id, slug } of [dest, origin]) {
    const chain = chains.get(id);
    if (chain === undefined) continue;
    const gasPrice = gasPriceOf(chain);
    const native = market.mid(gasPrice);
    if (isDecline(native))
      return {
        kind: 'price',
        note: `${pairName}: gas on ${slug} has no price: ${native.detail ?? `${gasPrice}: no price yet`}`,
        ...(native.control !== undefined && { control: native.control }),
      };
    if (chain.weiPerGas === undefined)
      return { kind: 'price', note: `${pairName}: the price of gas on ${slug} is not known yet` };
  }
  return undefined;
}

/** The prices without a usable mid. A market may look at a part of them in each call. */
export const staleReasons = (market: Market): StandbyReason[] =>
  market.stale().map(({ symbol, detail }) => ({ kind: 'price', note: `${symbol}: ${detail}` }));
