/** Default parts of a first configuration. */

import type { ChainFacts, TokenFacts, VenueFacts } from './probe.ts';

export type NetworkSection = Record<string, unknown> & {
  id: number;
  slug: string;
  tokens: { symbol: string }[];
  proofWindowSeconds: number;
  landingMarginSeconds: number;
};

const DOLLAR = /^(?:USD.*|.*USD|USD[A-Z0-9]?|DAI|USDC\.e)$/i;
const WRAPPED: Record<string, string> = { WETH: 'ETH', WBTC: 'BTC', CBBTC: 'BTC', TBTC: 'BTC' };

export const priceSymbolOf = (symbol: string): string =>
  DOLLAR.test(symbol) ? 'USD' : (WRAPPED[symbol.toUpperCase()] ?? symbol);

export function networkOf(
  { chainId, slug, escrow, oracle }: VenueFacts['chains'][number],
  { blockTimeMs, minProofWindowSeconds }: ChainFacts,
  rpcUrl: string,
  tokens: readonly TokenFacts[],
): NetworkSection {
  return {
    id: chainId,
    slug,
    escrow,
    oracle,
    blockTimeMs,
    landingMarginSeconds: 30,
    proofWindowSeconds: minProofWindowSeconds,
    tokens: tokens.map((token) => ({ ...token, priceSymbol: priceSymbolOf(token.symbol) })),
    rpcUrls: [rpcUrl],
  };
}

/** Three exchanges, so that one may fail. */
export const EXCHANGES = {
  binance: { kind: 'binance' },
  coinbase: { kind: 'coinbase' },
  kraken: { kind: 'kraken' },
};

export function defaultPrices(symbols: readonly string[]): Record<string, unknown> {
  const sources = (price: string) => [
    { feed: 'binance', symbol: `${price}USDC` },
    { feed: 'coinbase', symbol: `${price}-USD` },
    { feed: 'kraken', symbol: `${price}/USD` },
  ];
  return Object.fromEntries(
    [...new Set(symbols.map(priceSymbolOf))].map((price) => [
      price,
      price === 'USD' ? { fixed: '1' } : { sources: sources(price) },
    ]),
  );
}

/** Every asset against every dollar token, and the first dollar token across chains. */
export function defaultPairs(
  networks: readonly NetworkSection[],
  params: object,
): { base: string; quote: string; params: object }[] {
  const symbols = [...new Set(networks.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)))];
  const [dollars, others] = [
    symbols.filter((symbol) => priceSymbolOf(symbol) === 'USD'),
    symbols.filter((symbol) => priceSymbolOf(symbol) !== 'USD'),
  ];
  const [first] = dollars;
  const crossing =
    first !== undefined &&
    networks.filter(({ tokens }) => tokens.some(({ symbol }) => symbol === first)).length > 1;
  return [
    ...others.flatMap((base) => dollars.map((quote) => ({ base, quote, params }))),
    ...(crossing ? [{ base: first, quote: first, params: {} }] : []),
  ];
}

/** Proof and claim must fit between fill and refund; a fill must land within the landing margin. */
export function quotingFor(networks: readonly NetworkSection[]): object {
  const shortest = (of: 'proofWindowSeconds' | 'landingMarginSeconds') =>
    Math.min(...networks.map((network) => network[of]));
  return {
    claimSeconds: Math.max(1, Math.min(60, Math.floor(shortest('proofWindowSeconds') / 3))),
    fillMarginSeconds: Math.max(1, Math.min(4, Math.floor(shortest('landingMarginSeconds') / 4))),
  };
}
