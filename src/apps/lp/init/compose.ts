/** Default parts of a first configuration. */

import { ETHER } from '../../../domain/chain.ts';
import { readPreset } from '../../config/presets.ts';
import type { ChainFacts, TokenFacts, VenueFacts } from './probe.ts';

export type NetworkSection = Record<string, unknown> & {
  preset?: string;
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
  { chainId, slug, escrow, oracle, quoteBond }: VenueFacts['chains'][number],
  { preset, blockTimeMs, minProofWindowSeconds }: ChainFacts,
  rpcUrl: string,
  tokens: readonly TokenFacts[],
): NetworkSection {
  return {
    ...(preset !== undefined && { preset }),
    id: chainId,
    slug,
    escrow,
    oracle,
    quoteBond: quoteBond ?? null,
    ...(preset === undefined && { blockTimeMs }),
    landingMarginSeconds: 30,
    proofWindowSeconds: minProofWindowSeconds,
    tokens: tokens.map((token) => ({ ...token, priceSymbol: priceSymbolOf(token.symbol) })),
    rpcUrls: [rpcUrl],
  };
}

/** The symbol of what gas is paid in. */
export const gasSymbolOf = ({ preset }: NetworkSection): string =>
  typeof preset === 'string' ? readPreset(preset).native.symbol : ETHER.symbol;

const polled = (url: string, bid: string, ask: string, time: string | null) => ({
  kind: 'http',
  url,
  bid,
  ask,
  time,
  everyMs: 2_000,
});

/** Three exchanges make prices, so that one may fail. The others, polled, check them and watch pegs. */
export const EXCHANGES = {
  binance: { kind: 'binance' },
  coinbase: { kind: 'coinbase' },
  kraken: { kind: 'kraken' },
  'kraken-rest': polled(
    'https://api.kraken.com/0/public/Ticker?pair={symbol}',
    'result.*.b.0',
    'result.*.a.0',
    null,
  ),
  'coinbase-rest': polled('https://api.exchange.coinbase.com/products/{symbol}/ticker', 'bid', 'ask', 'time'),
  bitstamp: polled('https://www.bitstamp.net/api/v2/ticker/{symbol}/', 'bid', 'ask', 'timestamp'),
};

/** Dollar coins by the markets that watch their peg, from the public lists of these exchanges. */
const GUARDS: Readonly<Record<string, readonly { feed: keyof typeof EXCHANGES; symbol: string }[]>> = {
  USDC: [
    { feed: 'kraken-rest', symbol: 'USDCUSD' },
    { feed: 'bitstamp', symbol: 'usdcusd' },
  ],
  USDT: [
    { feed: 'kraken-rest', symbol: 'USDTUSD' },
    { feed: 'coinbase-rest', symbol: 'USDT-USD' },
    { feed: 'bitstamp', symbol: 'usdtusd' },
  ],
  DAI: [
    { feed: 'kraken-rest', symbol: 'DAIUSD' },
    { feed: 'coinbase-rest', symbol: 'DAI-USD' },
  ],
  PYUSD: [
    { feed: 'kraken-rest', symbol: 'PYUSDUSD' },
    { feed: 'coinbase-rest', symbol: 'PYUSD-USD' },
  ],
};
/** Bridged forms of a coin, priced as the coin. */
const BRIDGED: Readonly<Record<string, string>> = { 'USDC.E': 'USDC', USDBC: 'USDC', USDT0: 'USDT' };

/**
 * What checks the three exchanges: a fourth one, and one of them by another way, because nothing is quoted
 * without a fresh reference.
 */
const REFERENCES: Readonly<Record<string, { bitstamp: string; 'kraken-rest': string }>> = {
  ETH: { bitstamp: 'ethusd', 'kraken-rest': 'ETHUSD' },
  BTC: { bitstamp: 'btcusd', 'kraken-rest': 'XBTUSD' },
  LINK: { bitstamp: 'linkusd', 'kraken-rest': 'LINKUSD' },
  UNI: { bitstamp: 'uniusd', 'kraken-rest': 'UNIUSD' },
  AAVE: { bitstamp: 'aaveusd', 'kraken-rest': 'AAVEUSD' },
};

/** The price of a token: a dollar coin has its own, so that its peg is watched. */
export function priceNameOf(symbol: string): string {
  const upper = symbol.toUpperCase();
  return priceSymbolOf(symbol) === 'USD' ? (BRIDGED[upper] ?? upper) : priceSymbolOf(symbol);
}

/** For prices named by `priceNameOf`. What these lists do not have gets no guard and no reference. */
export function defaultPrices(names: readonly string[]): Record<string, unknown> {
  const sources = (price: string) => [
    { feed: 'binance', symbol: `${price}USDC` },
    { feed: 'coinbase', symbol: `${price}-USD` },
    { feed: 'kraken', symbol: `${price}/USD` },
  ];
  return Object.fromEntries(
    [...new Set(names)].map((name) => {
      if (priceSymbolOf(name) === 'USD') return [name, { fixed: '1', guards: GUARDS[name] ?? [] }];
      const references = Object.entries(REFERENCES[name] ?? {});
      return [
        name,
        {
          sources: sources(name),
          // Polled every two seconds; Bitstamp stamps whole seconds.
          references: references.map(([feed, symbol]) => ({ feed, symbol, maxAgeMs: 60_000 })),
        },
      ];
    }),
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
