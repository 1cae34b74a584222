/**
 * Compares the price of each asset with what the chains' descriptions say that its token is worth. One wrong
 * word would sell ether for a dollar, and nothing else would notice.
 */

import type { LpConfig, LpPriceConfig } from './config.ts';
import type { Problem } from './contradictions.ts';

/** What an identity check needs of a network. `priceSymbol`: what one whole unit is worth, such as "ETH". */
export interface PricedNetwork {
  id: number;
  slug: string;
  native: { symbol: string; priceSymbol: string };
  tokens: readonly { symbol: string; priceSymbol: string | null }[];
}

/** A market symbol of a feed, as far as its letters tell. */
export interface MarketSymbol {
  /** What is priced. */
  base: string;
  /** What it is priced in; undefined when the symbol does not say. */
  quote: string | undefined;
}

/** Tokens and names of one worth, by the names that feeds use for it. */
const ALIKE: Readonly<Record<string, string>> = {
  ...{ WETH: 'ETH', STETH: 'ETH', XETH: 'ETH' },
  ...{ WBTC: 'BTC', CBBTC: 'BTC', TBTC: 'BTC', XBT: 'BTC', XXBT: 'BTC' },
  ...{ USDC: 'USD', DAI: 'USD', USDS: 'USD', PYUSD: 'USD', ZUSD: 'USD', EURC: 'EUR', ZEUR: 'EUR' },
};

/** Names whose worth is known. Of any other name nothing is concluded. */
const WORTHS = [
  'USD',
  'EUR',
  'GBP',
  'JPY',
  'CHF',
  'BTC',
  'ETH',
  'SOL',
  'BNB',
  'XRP',
  'USDT',
  'FDUSD',
  'TUSD',
];
const NAMES = [...WORTHS, ...Object.keys(ALIKE)].toSorted((a, b) => b.length - a.length);
/** Beyond this a dollar is none any more, and the rest of the configuration cannot mean one. */
const FURTHEST_DOLLAR = 0.2;

/** Whether a fixed price in dollars can mean a dollar. */
export const isNearDollar = (fixed: string): boolean => Math.abs(Number(fixed) - 1) <= FURTHEST_DOLLAR;

const worthOf = (name: string): string => ALIKE[name] ?? name;
const isKnown = (name: string): boolean => WORTHS.includes(worthOf(name));

/** Reads "ETHUSDC", "ETH-USD", "ETH/USD" or "eth_usdt". undefined: the letters tell nothing. */
export function readMarketSymbol(symbol: string): MarketSymbol | undefined {
  const text = symbol.toUpperCase();
  const parts = text.split(/[-/_ ]/);
  if (parts.length === 2) {
    const [base = '', quote = ''] = parts;
    return isKnown(base) ? { base, quote: isKnown(quote) ? quote : undefined } : undefined;
  }
  const base = NAMES.find((name) => text.startsWith(name) && NAMES.includes(text.slice(name.length)));
  if (base !== undefined) return { base, quote: text.slice(base.length) };
  return NAMES.includes(text) ? { base: text, quote: undefined } : undefined;
}

/** Finds prices that are not of what they are used for. */
export function priceIdentityProblems(config: LpConfig, networks: readonly PricedNetwork[]): Problem[] {
  const problems: Problem[] = [];
  const report = (path: Problem['path'], message: string) => void problems.push({ path, message });
  const tokens = networks.flatMap(({ slug, tokens: all }) =>
    all.map(({ symbol, priceSymbol }) => ({ slug, symbol, priceSymbol })),
  );
  /** Uses of a price: what it has to be worth, and who says so. */
  const uses = new Map<string, { worth: string; who: string }[]>();
  const isUsed = (price: string, worth: string, who: string) =>
    void uses.set(price, [...(uses.get(price) ?? []), { worth, who }]);

  const compare = (path: Problem['path'], price: string, worth: string, who: string) => {
    const other = tokens.find((token) => token.priceSymbol === price && price !== worth);
    if (other === undefined || worthOf(price) === worthOf(worth)) return isUsed(price, worth, who);
    report(
      path,
      `is "${price}", but ${who} is worth ${worth} (its priceSymbol), and "${price}" is the price of ${other.symbol}: ` +
        `name the price of ${worth}, or correct priceSymbol`,
    );
  };
  for (const [symbol, { price }] of Object.entries(config.assets)) {
    const known = tokens.filter((token) => token.symbol === symbol && token.priceSymbol !== null);
    const [first] = known;
    const odd = known.find(({ priceSymbol }) => priceSymbol !== first?.priceSymbol);
    if (first === undefined) continue;
    if (odd !== undefined)
      report(
        ['assets', symbol],
        `is worth ${first.priceSymbol} on ${first.slug} and ${odd.priceSymbol} on ${odd.slug} by their priceSymbol, ` +
          'but an asset has one price: give the tokens different symbols, or correct priceSymbol',
      );
    else compare(['assets', symbol, 'price'], price, first.priceSymbol ?? '', `${symbol} on ${first.slug}`);
  }
  for (const [at, { chainId, gasPrice }] of config.chains.entries()) {
    const network = networks.find(({ id }) => id === chainId);
    if (network === undefined) continue;
    const { symbol, priceSymbol } = network.native;
    compare(['chains', at, 'gasPrice'], gasPrice ?? symbol, priceSymbol, `the gas of ${network.slug}`);
  }
  for (const [name, price] of Object.entries(config.prices))
    priceProblems(name, price, uses.get(name) ?? [], report);
  return problems;
}

function priceProblems(
  name: string,
  price: LpPriceConfig,
  uses: readonly { worth: string; who: string }[],
  report: (path: Problem['path'], message: string) => void,
): void {
  const use = uses.find(({ worth }) => isKnown(worth));
  if (use !== undefined && 'fixed' in price && worthOf(use.worth) === 'USD') {
    if (!isNearDollar(price.fixed))
      report(
        ['prices', name, 'fixed'],
        `is ${price.fixed}, but ${use.who} is worth one dollar (its priceSymbol is ${use.worth}): write 1, or correct priceSymbol`,
      );
  }
  const lists =
    'fixed' in price
      ? ([['guards', price.guards]] as const)
      : ([
          ['sources', price.sources],
          ['references', price.references],
        ] as const);
  for (const [list, entries] of lists)
    for (const [at, { symbol }] of entries.entries()) {
      const market = readMarketSymbol(symbol);
      if (market === undefined || use === undefined) continue;
      if (worthOf(market.base) === worthOf(use.worth)) continue;
      // A stablecoin that is worth a dollar by its owner's word may have a market of its own name.
      if (worthOf(use.worth) === 'USD' && market.base.includes('USD')) continue;
      report(
        ['prices', name, list, at, 'symbol'],
        `is ${symbol}, a price of ${market.base}, but ${use.who} is worth ${use.worth} (its priceSymbol): name a market of ` +
          `${use.worth}, or correct priceSymbol`,
      );
    }
  if ('sources' in price) mixedQuotes(name, price.sources, report);
}

/** One sentence per asset of which no chain says what it is worth: nothing compares its price. */
export function unknownWorths(config: LpConfig, networks: readonly PricedNetwork[]): string[] {
  const tokens = networks.flatMap(({ tokens: all }) => all);
  return Object.entries(config.assets)
    .filter(([symbol]) => {
      const named = tokens.filter((token) => token.symbol === symbol);
      return named.length > 0 && named.every(({ priceSymbol }) => priceSymbol === null);
    })
    .map(
      ([symbol, { price }]) =>
        `assets.${symbol} is priced by "${price}", and no chain says what ${symbol} is worth, so nothing compares the two. ` +
        'Give the token a priceSymbol, such as "ETH".',
    );
}

/** Sources in two currencies have no common median, however close the two are on most days. */
function mixedQuotes(
  name: string,
  sources: readonly { feed: string; symbol: string }[],
  report: (path: Problem['path'], message: string) => void,
): void {
  const quoted = sources.flatMap(({ symbol }, at) => {
    const quote = readMarketSymbol(symbol)?.quote;
    return quote === undefined ? [] : [{ at, symbol, quote: worthOf(quote) }];
  });
  const [first] = quoted;
  const other = quoted.find(({ quote }) => quote !== first?.quote);
  if (first !== undefined && other !== undefined)
    report(
      ['prices', name, 'sources', other.at, 'symbol'],
      `is ${other.symbol}, in ${other.quote}, and sources.${first.at} is ${first.symbol}, in ${first.quote}: their mean is a ` +
        `price in neither. Name markets in one currency`,
    );
}
