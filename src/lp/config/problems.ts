/**
 * Finds parts of a configuration that contradict each other, when it is read rather than when a quote fails.
 */

import type { LpConfig } from './config.ts';

interface Problem {
  path: (string | number)[];
  message: string;
}

export function lpConfigProblems(
  { chains, prices, assets, pairs }: Pick<LpConfig, 'chains' | 'prices' | 'assets' | 'pairs'>,
  networks: readonly { id: number; slug: string; tokens: readonly { symbol: string }[] }[],
): Problem[] {
  const problems: Problem[] = [];
  const report = (path: (string | number)[], message: string) => void problems.push({ path, message });
  const price = (path: (string | number)[], symbol: string) =>
    symbol in prices ||
    report(
      path,
      `there is no price named "${symbol}": add it under prices, or name one of ` +
        Object.keys(prices).join(', '),
    );
  const ours = networks.filter(({ id }) => chains.some(({ chainId }) => chainId === id));
  const traded = new Set(ours.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)));

  for (const [at, { chainId, account, gasPrice }] of chains.entries()) {
    if (!networks.some(({ id }) => id === chainId))
      report(['chains', at, 'chainId'], `chain ${chainId} is not described under networks`);
    if (account !== chains[0]?.account)
      report(
        ['chains', at, 'account'],
        'an LP has one account, the same on every chain: the escrow credits the address that paid',
      );
    price(['chains', at, 'gasPrice'], gasPrice);
  }
  for (const [symbol, asset] of Object.entries(assets)) price(['assets', symbol, 'price'], asset.price);
  const slugs = new Set(ours.map(({ slug }) => slug));
  const known = new Set([...slugs].flatMap((from) => [...slugs].map((to) => `${from}-${to}`)));
  const first = new Map<string, number>();
  for (const [at, { base, quote }] of pairs.entries())
    if (!first.has(`${base}\n${quote}`)) first.set(`${base}\n${quote}`, at);
  for (const [at, { base, quote, corridors }] of pairs.entries()) {
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
  }
  return problems;
}
