/**
 * Decides which price `lp init` gives a token. "USD" in a name is no peg: only the dollars of this list are
 * 1, each with the markets that watch it. Dollars and wrapped assets are known, on a chain with a preset,
 * only at the preset's addresses; other names of dollars need a source. All other tokens are priced by the
 * markets of their symbol. The operator is told to check every token whose address no preset lists.
 */

import { EXCHANGE_KINDS, EXCHANGE_SOCKETS, symbolAt } from '../../../adapters/feeds/formats.ts';
import type { Preset } from '../../config/presets.ts';
import type { EXCHANGES } from './exchanges.ts';
import type { TokenFacts } from './probe.ts';

interface Market {
  feed: keyof typeof EXCHANGES;
  symbol: string;
}

/** Dollars that their issuers redeem at one dollar, with the exchanges where they trade for US dollars. */
const DOLLARS: Readonly<Record<string, readonly Market[]>> = {
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

/**
 * Tokens that stand for another asset. The contract of WETH redeems it; the others depend on a custodian, so
 * their own market checks the price of what they stand for. Without such a market there is no default.
 */
const WRAPPED: Readonly<Record<string, { of: string; watch: Market | 'contract' | undefined }>> = {
  WETH: { of: 'ETH', watch: 'contract' },
  WBTC: { of: 'BTC', watch: { feed: 'kraken-rest', symbol: 'WBTCUSD' } },
  tBTC: { of: 'BTC', watch: { feed: 'kraken-rest', symbol: 'TBTCUSD' } },
  cbBTC: { of: 'BTC', watch: undefined },
};

/**
 * The markets that check the three exchanges: a fourth one, and one of them by another way, because nothing
 * is quoted without a fresh reference.
 */
const REFERENCES: Readonly<Record<string, readonly Market[]>> = {
  ETH: [
    { feed: 'bitstamp', symbol: 'ethusd' },
    { feed: 'kraken-rest', symbol: 'ETHUSD' },
  ],
  BTC: [
    { feed: 'bitstamp', symbol: 'btcusd' },
    { feed: 'kraken-rest', symbol: 'XBTUSD' },
  ],
  LINK: [
    { feed: 'bitstamp', symbol: 'linkusd' },
    { feed: 'kraken-rest', symbol: 'LINKUSD' },
  ],
  UNI: [
    { feed: 'bitstamp', symbol: 'uniusd' },
    { feed: 'kraken-rest', symbol: 'UNIUSD' },
  ],
  AAVE: [
    { feed: 'bitstamp', symbol: 'aaveusd' },
    { feed: 'kraken-rest', symbol: 'AAVEUSD' },
  ],
};

const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** Words that promise a dollar, in a symbol or a name. */
const LOOKS_LIKE_A_DOLLAR = /USD|DAI|\$|dollar/i;

type TokenPrice =
  /** `name` is that of a price that `defaultPrice` makes; `notice` says what the operator must check. */
  | { kind: 'known'; name: string; notice: string | undefined }
  /** A source must be named. */
  | { kind: 'unknown'; why: string }
  /** The token has the symbol of another one, so it cannot be traded beside that one. */
  | { kind: 'impostor'; why: string };

/**
 * Prices a token. `preset`: that of the chain; undefined for a chain that has none, where only the symbol
 * tells.
 */
export function priceOfToken(
  { address, symbol, name }: Pick<TokenFacts, 'address' | 'symbol' | 'name'>,
  slug: string,
  preset: Pick<Preset, 'tokens'> | undefined,
): TokenPrice {
  const tokens = preset?.tokens ?? [];
  const listed = tokens.find((token) => token.address.toLowerCase() === address.toLowerCase());
  const namesake = tokens.find((token) => token.symbol === symbol);
  if (listed === undefined && namesake !== undefined)
    return { kind: 'impostor', why: `the ${symbol} of ${slug} is at ${namesake.address}` };
  const known = listed?.symbol ?? symbol;
  const [dollar, wrapped] = [own(DOLLARS, known), own(WRAPPED, known)];
  const isCertain = listed !== undefined || tokens.length === 0;
  if ((dollar ?? wrapped) !== undefined && !isCertain)
    return { kind: 'unknown', why: `the address of ${symbol} on ${slug} is not known to firmquote` };
  const byName = (as: string) =>
    listed === undefined
      ? `${symbol} at ${address} on ${slug} is taken for ${as} by its symbol alone. Check the address.`
      : undefined;
  if (dollar !== undefined) return { kind: 'known', name: known, notice: byName('the dollar of that name') };
  if (wrapped !== undefined)
    return wrapped.watch === undefined
      ? { kind: 'unknown', why: `it stands for ${wrapped.of}, and no market is known that watches this` }
      : {
          kind: 'known',
          name: wrapped.watch === 'contract' ? wrapped.of : known,
          notice: byName(`wrapped ${wrapped.of}`),
        };
  if (LOOKS_LIKE_A_DOLLAR.test(symbol) || LOOKS_LIKE_A_DOLLAR.test(name))
    return {
      kind: 'unknown',
      why: `its name does not make it a dollar, and it is none of ${Object.keys(DOLLARS).join(', ')}`,
    };
  return {
    kind: 'known',
    name: known,
    notice: own(REFERENCES, known)
      ? byName(known)
      : `${known} is priced by the markets ${sourcesOf(known)
          .map((market) => `${market.symbol} of ${market.feed}`)
          .join(', ')}. Check that they trade this token.`,
  };
}

const sourcesOf = (asset: string): Market[] =>
  EXCHANGE_KINDS.map((kind) => ({
    feed: kind,
    symbol: symbolAt(kind, { base: asset, quote: EXCHANGE_SOCKETS[kind].dollar }),
  }));

/**
 * Makes the price of a name of `priceOfToken` or of the gas currency. What these lists do not have gets no
 * reference.
 */
export function defaultPrice(name: string): Record<string, unknown> {
  const guards = own(DOLLARS, name);
  if (guards !== undefined) return { fixed: '1', guards };
  const { of: asset = name, watch } = own(WRAPPED, name) ?? {};
  const references = typeof watch === 'object' ? [watch] : (own(REFERENCES, asset) ?? []);
  return {
    sources: sourcesOf(asset),
    // Polled every two seconds; Bitstamp stamps whole seconds.
    references: references.map((market) => ({ ...market, maxAgeMs: 60_000 })),
  };
}

/** Ms that a price may be old whose feed is polled. */
const POLLED_AGE_MS = 10_000;

/**
 * The price that an operator names by its markets, such as "kraken:USDE/USD, coinbase:USDE-USD". Returns what
 * is wrong with it.
 */
export function readMarkets(
  text: string,
  feeds: Readonly<Record<string, unknown>>,
): Record<string, unknown> | string {
  const sources = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => /^([^\s:]+):(\S+)$/.exec(part)?.slice(1));
  const names = Object.keys(feeds).join(', ');
  if (sources.length === 0 || sources.some((source) => source === undefined))
    return `"${text}" names no markets: write feed:symbol, separated by commas, with the feeds ${names}.`;
  const stray = sources.find(([feed = ''] = []) => !Object.hasOwn(feeds, feed));
  if (stray !== undefined) return `There is no feed "${stray[0]}": use ${names}.`;
  return {
    sources: sources.map(([feed = '', symbol = ''] = []) => ({
      ...{ feed, symbol },
      ...((feeds[feed] as { kind?: unknown }).kind === 'http' && { maxAgeMs: POLLED_AGE_MS }),
    })),
  };
}
