/** Risk controls follow a reload. */

import { expect, test } from 'vitest';
import { silentLog, silentMetrics } from '../../../test/support/silent.ts';
import { createLedger } from '../../inventory/ledger.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';
import { zLpConfig } from '../config/config.ts';
import { createMarket } from '../market/market.ts';
import { createRisk } from './risk.ts';

const ACCOUNT = `0x${'a'.repeat(40)}`;
/** No feed names a price, so every pair is stopped. */
function configOf(count: number) {
  const symbols = Array.from({ length: count }, (_, n) => `T${n}`);
  return zLpConfig.parse({
    solver: { id: 'x', name: 'X' },
    chains: [{ chainId: 1, account: ACCOUNT, gasPrice: 'USDC' }],
    prices: {
      USDC: { fixed: '1' },
      ...Object.fromEntries(symbols.map((symbol) => [symbol, { sources: [{ feed: 'f', symbol }] }])),
    },
    assets: Object.fromEntries(['USDC', ...symbols].map((symbol) => [symbol, { price: symbol }])),
    pairs: symbols.map((base) => ({ base, quote: 'USDC' })),
  });
}

test('a pair removed by a reload has no condition', () => {
  const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0, after: () => () => {} };
  const [many, one] = [configOf(60), configOf(1)];
  const market = createMarket({ clock }, many);
  const ledger = createLedger({ buckets: [], graceSeconds: () => 15, limits: {} });
  const risk = createRisk(
    {
      ledger,
      market: () => market,
      store: {} as LpStore,
      shared: false,
      clock,
      log: silentLog,
      metrics: silentMetrics,
      saved: new Map(),
      pauses: {},
      assetOf: () => undefined,
      slug: String,
      changed() {},
      killed() {},
    },
    many,
  );
  const about = () =>
    risk
      .status()
      .tripped.filter(({ control }) => control === 'stale_mid')
      .map(({ about: pair }) => pair);
  risk.update(new Map());
  expect(about()).toHaveLength(60);
  risk.configure(one);
  risk.update(new Map());
  expect(about()).toEqual(['T0-USDC']);
});
