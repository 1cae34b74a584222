/**
 * What parts of a configuration may each say alone but not together: found when it is read, not when a taker
 * asks in vain.
 */

import { eachOf } from '../../domain/steps.ts';
import type { LpConfig } from './config.ts';

export interface Problem {
  path: (string | number)[];
  message: string;
}

/** Pairs in a step. */
const AT_ONCE = 50;

/** In steps. `networks`: the chains that are described, with the symbols of their tokens. */
export function* problemsOf(
  { chains, prices, assets, pairs }: Pick<LpConfig, 'chains' | 'prices' | 'assets' | 'pairs'>,
  networks: readonly { id: number; slug: string; tokens: readonly { symbol: string }[] }[],
): Generator<void, Problem[]> {
  const problems: Problem[] = [];
  const say = (path: (string | number)[], message: string) => void problems.push({ path, message });
  const price = (path: (string | number)[], symbol: string) =>
    symbol in prices ||
    say(
      path,
      `there is no price named "${symbol}": add it under prices, or name one of ${Object.keys(prices).join(', ')}`,
    );
  const ours = networks.filter(({ id }) => chains.some(({ chainId }) => chainId === id));
  const traded = new Set(ours.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)));

  for (const [at, { chainId, account, gasPrice }] of chains.entries()) {
    if (!networks.some(({ id }) => id === chainId))
      say(['chains', at, 'chainId'], `chain ${chainId} is not described under networks`);
    if (account !== chains[0]?.account)
      say(
        ['chains', at, 'account'],
        'an LP has one account, the same on every chain: the escrow credits the address that paid',
      );
    price(['chains', at, 'gasPrice'], gasPrice);
  }
  for (const [symbol, asset] of Object.entries(assets)) price(['assets', symbol, 'price'], asset.price);
  const slugs = new Set(ours.map(({ slug }) => slug));
  const known = new Set([...slugs].flatMap((from) => [...slugs].map((to) => `${from}-${to}`)));
  /** Where each pair is first. */
  const first = new Map<string, number>();
  yield* eachOf(
    pairs.entries(),
    AT_ONCE,
    ([at, { base, quote }]) => first.has(`${base}\n${quote}`) || first.set(`${base}\n${quote}`, at),
  );
  yield* eachOf(pairs.entries(), AT_ONCE, ([at, { base, quote, corridors }]) => {
    for (const [side, symbol] of [
      ['base', base],
      ['quote', quote],
    ] as const) {
      if (!(symbol in assets))
        say(['pairs', at, side], `there is no asset "${symbol}": add it under assets, with its price`);
      else if (!traded.has(symbol)) say(['pairs', at, side], `no chain of this LP has a token "${symbol}"`);
    }
    if (base !== quote && (first.get(`${quote}\n${base}`) ?? -1) > at)
      say(
        ['pairs', at],
        `${base}-${quote} is there the other way round as well: one of the two is enough, it is quoted both ways`,
      );
    for (const [index, corridor] of (corridors ?? []).entries()) {
      if (!known.has(corridor))
        say(
          ['pairs', at, 'corridors', index],
          `"${corridor}" is no corridor between chains of this LP (${[...slugs].join(', ')})`,
        );
    }
  });
  return problems;
}
