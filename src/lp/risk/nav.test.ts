/** Net asset value: every coin at its price, and a price that goes missing takes nothing away. */

import { expect, test } from 'vitest';
import type { Mid } from '../../pricing/mid.ts';
import { createNav } from './nav.ts';

test('the sum over assets at the last known mids', () => {
  const prices = new Map<string, number>([['USD', 1]]);
  const owned: Record<string, bigint> = { USDC: 250_000n * 10n ** 18n, WETH: 40n * 10n ** 18n, DUST: 0n };
  const nav = createNav({
    ledger: { exposure: (asset) => ({ owned: owned[asset] ?? 0n, committed: 7n, quoted: 9n, total: 16n }) },
    market: () => ({
      mid: (symbol) =>
        prices.has(symbol) ? ({ value: prices.get(symbol) } as Mid) : { declined: 'stale_price' },
    }),
    assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH' }, DUST: { price: 'XYZ' } },
  });
  expect(nav.now()).toEqual({ usd: 250_000, complete: false });
  prices.set('ETH', 2_500);
  expect(nav.now()).toEqual({ usd: 350_000, complete: true });
  prices.delete('ETH');
  expect(nav.now()).toEqual({ usd: 350_000, complete: true });
  expect(nav.worth('WETH', 2n * 10n ** 18n, 18)).toBe(5_000);
  expect(nav.worth('USDC', -1_500_000n, 6)).toBe(-1.5);
});
