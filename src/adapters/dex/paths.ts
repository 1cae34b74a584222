/** Paths between two tokens over listed pools, shortest first, no token twice. */

import type { Address } from '../../domain/hex.ts';

interface Edge {
  tokens: readonly [Address, Address];
}

export interface Hop<E> {
  pool: E;
  tokenIn: Address;
  tokenOut: Address;
}

export function findPaths<E extends Edge>(
  pools: readonly E[],
  from: Address,
  to: Address,
  maxHops: number,
): Hop<E>[][] {
  const found: Hop<E>[][] = [];
  let open: Hop<E>[][] = [[]];
  for (let hops = 1; hops <= maxHops && open.length > 0; hops += 1) {
    const next: Hop<E>[][] = [];
    for (const path of open) {
      const at = path.at(-1)?.tokenOut ?? from;
      for (const pool of pools) {
        const [a, b] = pool.tokens;
        if (at !== a && at !== b) continue;
        const tokenOut = at === a ? b : a;
        if (tokenOut === from || path.some((hop) => hop.tokenOut === tokenOut)) continue;
        const longer = [...path, { pool, tokenIn: at, tokenOut }];
        (tokenOut === to ? found : next).push(longer);
      }
    }
    open = next;
  }
  return found;
}
