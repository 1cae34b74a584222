/** The guard: its adjustment for every volatility regime, and its bounded memory of takers. */

import { expect, test } from 'vitest';
import { createTakerStatistics } from './taker-statistics.ts';
import { createGuard } from './guard.ts';
import { NO_ADJUSTMENT } from '../../risk/adjustment.ts';
import type { PairPrice } from '../market/pair-view.ts';
import { zLpRisk } from '../config/risk-config.ts';
import type { QuoteRoute } from '../routes/route.ts';
import { createPairMonitor } from './pair-monitor.ts';

const route = { pair: { base: 'WETH', quote: 'USDC' }, pairName: 'WETH-USDC' } as QuoteRoute;
const leg = { sigmaFloor: 0.4 };
const priceOf = (value: number, volatilityRatio = 1) =>
  ({
    mid: { value },
    quoteValue: 1,
    sigma: 0.9,
    volatilityRatio,
    base: leg,
    quote: leg,
  }) as unknown as PairPrice;

function setUp(change: object = {}) {
  const risk = zLpRisk.parse(change);
  const state = { price: priceOf(2_500), reduced: false };
  const takers = createTakerStatistics(risk);
  const guard = createGuard(
    {
      market: () => ({ pair: () => state.price }),
      monitor: createPairMonitor(risk),
      takers,
      capital: {
        get sizesReduced() {
          return state.reduced;
        },
      },
    },
    risk,
  );
  return {
    state,
    guard,
    admit: (taker = 'a', nowMs = 0, minValidUntil: number | null = null) =>
      guard.admit({ taker: taker as `0x${string}`, minValidUntil }, route, nowMs),
  };
}

test('adjusts for losses, an elevated market, and both', () => {
  const { state, admit } = setUp();
  expect(admit()).toBe(NO_ADJUSTMENT);
  state.reduced = true;
  expect(admit()).toMatchObject({ sizeFactor: 0.5, sigmaFactor: 1, control: 'drawdown' });
  state.price = priceOf(2_500, 3.5);
  expect(admit('a', 100)).toMatchObject({
    sizeFactor: 0.125,
    sigmaFactor: 1.5,
    maxSeconds: 5,
    control: 'vol_spike',
  });
  expect(admit('a', 100, 30)).toMatchObject({ declined: 'validity', control: 'vol_spike' });
  expect(admit('a', 100, 5)).toMatchObject({ maxSeconds: 5 });
});

test('a volatile minute below the volatility floor stays calm', () => {
  const { state, admit } = setUp();
  state.price = { ...priceOf(2_500, 9), sigma: 0.4 };
  expect(admit()).toBe(NO_ADJUSTMENT);
});

test('only the most recent takers are remembered', () => {
  const { admit } = setUp({ takers: 100, rate: { perSecond: 0.001, burst: 1 } });
  expect(admit('first')).toBe(NO_ADJUSTMENT);
  expect(admit('first')).toMatchObject({ control: 'rate_limit' });
  for (let n = 0; n < 100; n++) admit(`t${n}`);
  expect(admit('first')).toBe(NO_ADJUSTMENT);
  expect(admit('t99')).toMatchObject({ control: 'rate_limit' });
});
