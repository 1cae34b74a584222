/**
 * Finds parts of a configuration that contradict each other, when it is read rather than when a quote fails.
 */

import type { LpConfig } from './config.ts';
import { contradictions, type Problem } from './contradictions.ts';
import { type PricedNetwork, priceIdentityProblems } from './price-identity.ts';

export interface NetworkFacts extends PricedNetwork {
  blockTimeMs: number;
}

export function lpConfigProblems(config: LpConfig, networks: readonly NetworkFacts[]): Problem[] {
  const { chains, prices, assets, pairs } = config;
  const ours = networks.filter(({ id }) => config.chains.some(({ chainId }) => chainId === id));
  const problems: Problem[] = [...contradictions(config), ...priceIdentityProblems(config, ours)];
  const report = (path: (string | number)[], message: string) => void problems.push({ path, message });
  const price = (path: (string | number)[], symbol: string) =>
    symbol in prices ||
    report(
      path,
      `there is no price named "${symbol}": add it under prices, or name one of ` +
        Object.keys(prices).join(', '),
    );
  const traded = new Set(ours.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)));

  for (const [at, { chainId, account, gasPrice, maxHeadAgeMs, buffers }] of chains.entries()) {
    if (!networks.some(({ id }) => id === chainId))
      report(['chains', at, 'chainId'], `chain ${chainId} is not described under networks`);
    if (account !== chains[0]?.account)
      report(
        ['chains', at, 'account'],
        'an LP has one account, the same on every chain: the escrow credits the address that paid',
      );
    const network = networks.find(({ id }) => id === chainId);
    if (network === undefined) continue;
    price(['chains', at, 'gasPrice'], gasPrice ?? network.native.symbol);
    if (maxHeadAgeMs !== null && maxHeadAgeMs < network.blockTimeMs)
      report(
        ['chains', at, 'maxHeadAgeMs'],
        `is ${maxHeadAgeMs}, below blockTimeMs = ${network.blockTimeMs} of ${network.slug}, so the chain always ` +
          'seems late: raise it',
      );
    for (const symbol of Object.keys(buffers))
      if (!network.tokens.some((token) => token.symbol === symbol))
        report(
          ['chains', at, 'buffers', symbol],
          `${network.slug} has no token "${symbol}", so nothing is held back: write one of ` +
            network.tokens.map((token) => token.symbol).join(', '),
        );
  }
  for (const [symbol, asset] of Object.entries(assets)) {
    price(['assets', symbol, 'price'], asset.price);
    const there = ours.filter(({ tokens }) => tokens.some((token) => token.symbol === symbol));
    for (const slug of Object.keys(asset.chains))
      if (!there.some((network) => network.slug === slug))
        report(
          ['assets', symbol, 'chains', slug],
          `no chain "${slug}" of this LP has the token ${symbol}: write one of ` +
            (there.map((network) => network.slug).join(', ') || 'its chains'),
        );
  }
  const slugs = new Set(ours.map(({ slug }) => slug));
  const known = new Set([...slugs].flatMap((from) => [...slugs].map((to) => `${from}-${to}`)));
  const trades = (base: string, quote: string, corridors: readonly string[] | null) => {
    const has = (network: NetworkFacts, symbol: string) =>
      network.tokens.some((token) => token.symbol === symbol);
    return ours.some((from) =>
      ours.some(
        (to) =>
          (corridors?.includes(`${from.slug}-${to.slug}`) ?? true) &&
          (base === quote
            ? from !== to && has(from, base) && has(to, base)
            : (has(from, base) && has(to, quote)) || (has(from, quote) && has(to, base))),
      ),
    );
  };
  const first = new Map<string, number>();
  for (const [at, { base, quote }] of pairs.entries())
    if (!first.has(`${base}\n${quote}`)) first.set(`${base}\n${quote}`, at);
  for (const [at, { base, quote, corridors, corridorParams }] of pairs.entries()) {
    const found = problems.length;
    for (const [side, symbol] of [
      ['base', base],
      ['quote', quote],
    ] as const) {
      if (!(symbol in assets))
        report(['pairs', at, side], `there is no asset "${symbol}": add it under assets, with its price`);
      else if (!traded.has(symbol))
        report(['pairs', at, side], `no chain of this LP has a token "${symbol}"`);
    }
    if (base !== quote && (first.get(`${quote}\n${base}`) ?? -1) > at)
      report(
        ['pairs', at],
        `${quote}-${base} is configured too: remove one, because a pair is quoted in both directions`,
      );
    for (const [index, corridor] of (corridors ?? []).entries()) {
      if (!known.has(corridor))
        report(
          ['pairs', at, 'corridors', index],
          `"${corridor}" is no corridor between chains of this LP (${[...slugs].join(', ')})`,
        );
    }
    for (const corridor of Object.keys(corridorParams))
      if (!known.has(corridor))
        report(
          ['pairs', at, 'corridorParams', corridor],
          `"${corridor}" is no corridor between chains of this LP (${[...slugs].join(', ')})`,
        );
    if (problems.length === found && !trades(base, quote, corridors))
      report(
        ['pairs', at],
        `no corridor of ${base}-${quote} has a token on either side, so nothing would be quoted: name another ` +
          'corridor or take the pair out',
      );
  }
  return problems;
}
