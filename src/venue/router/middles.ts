/** The assets that a two-leg route may pass through: configured ones, then those most like either end. */

import { assetId, type AssetId } from '../../domain/asset.ts';
import type { Chain } from '../../domain/chain.ts';
import { corridorOf } from '../../domain/corridor.ts';
import type { ListedAsset } from '../market/markets.ts';
import type { PairRequest } from '../quoting/solver-request.ts';
import { pairOf, type RouteSource } from './source.ts';

/** Returns intermediate assets, best first, only on the request's two chains. */
export function middlesOf(
  intent: PairRequest,
  sources: readonly RouteSource[],
  { middles, maxMiddles }: { middles: readonly AssetId[]; maxMiddles: number },
): ListedAsset[] {
  const { input, output } = intent;
  const ends = new Set([assetId(input.asset), assetId(output.asset)]);
  const all = [...new Set([input.chain, output.chain])]
    .flatMap(marketsOn)
    .filter(({ asset }) => !ends.has(assetId(asset)));
  const ranked = all
    .map((market, index) => ({ market, rank: rankOf(market, intent, middles), index }))
    .sort((x, y) => x.rank - y.rank || x.index - y.index)
    .map(({ market }) => market);
  const useful: ListedAsset[] = [];
  for (const middle of ranked) {
    if (useful.length >= maxMiddles) break;
    const [first, second] = [
      serving(firstLeg(intent, middle), sources),
      serving(secondLeg(intent, middle), sources),
    ];
    if (first.some((one) => second.some((other) => makesSense(one, other)))) useful.push(middle);
  }
  return useful;
}

/** One venue quotes two pools as one order; a source of both legs quotes the whole. */
export const makesSense = (first: RouteSource, second: RouteSource): boolean =>
  !(first.kind === 'dex' && second.kind === 'dex') && (first.kind === 'rfq' || first.id !== second.id);

export const serving = (intent: PairRequest, sources: readonly RouteSource[]): RouteSource[] =>
  sources.filter((source) => source.serves(intent, pairOf(intent)));

/** Delivers to the taker's own wallet: the money is the taker's whatever happens next. */
export const firstLeg = (intent: PairRequest, middle: ListedAsset): PairRequest => ({
  ...legOf(intent, intent.input, middle),
  receiver: intent.taker,
  request: { ...intent.request, splitFill: 'never', settlement: 'wallet' },
});

export const secondLeg = (intent: PairRequest, middle: ListedAsset): PairRequest => ({
  ...legOf(intent, middle, intent.output),
  minValidUntil: null,
});

const legOf = (intent: PairRequest, input: ListedAsset, output: ListedAsset): PairRequest => ({
  ...intent,
  input,
  output,
  corridor: corridorOf(input.chain, output.chain),
  request: { ...intent.request, splitFill: 'never' },
});

const marketsOn = (chain: Chain): ListedAsset[] =>
  chain.tokens.map((token) => ({ asset: { chainId: chain.id, token: token.address }, chain, token }));

function rankOf(
  { asset, token }: ListedAsset,
  { input, output }: PairRequest,
  middles: readonly AssetId[],
): number {
  const configured = middles.indexOf(assetId(asset));
  if (configured !== -1) return configured;
  // The same currency on the other chain.
  const alike =
    token.priceSymbol !== null &&
    (token.priceSymbol === input.token.priceSymbol || token.priceSymbol === output.token.priceSymbol);
  return 1_000 + (alike ? 0 : token.priceSymbol === null ? 2 : 1);
}
