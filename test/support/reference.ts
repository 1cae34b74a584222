/** Reference prices of a test's venue: fixed, as decimal texts by price symbol. */

import type { Reference } from '../../src/ports/reference.ts';
import { parseDecimal } from '../../src/pricing/rational.ts';

export function referenceAt(prices: Readonly<Record<string, string>>): Reference {
  const usd = (symbol: string) => parseDecimal(prices[symbol] ?? '');
  return { usd, lastUsd: usd };
}
