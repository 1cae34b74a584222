/** A corridor is an ordered pair of chains, `<source>-<dest>`; a same-chain corridor repeats its slug. */

import type { Chain } from './chain.ts';

/**
 * `<source>-<dest>`. Slugs may hold hyphens themselves (`arc-testnet`), so only a roster of chains can split
 * one.
 */
export type Corridor = `${string}-${string}`;

export const corridorOf = (source: Pick<Chain, 'slug'>, dest: Pick<Chain, 'slug'>): Corridor =>
  `${source.slug}-${dest.slug}`;

/** undefined unless the text names two of these chains. */
export function parseCorridor<C extends Pick<Chain, 'slug'>>(
  text: string,
  chains: Iterable<C>,
): { source: C; dest: C } | undefined {
  const bySlug = new Map([...chains].map((chain) => [chain.slug, chain]));
  for (let at = text.indexOf('-'); at !== -1; at = text.indexOf('-', at + 1)) {
    const source = bySlug.get(text.slice(0, at));
    const dest = bySlug.get(text.slice(at + 1));
    if (source && dest) return { source, dest };
  }
  return undefined;
}
