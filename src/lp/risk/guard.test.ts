/**
 * The guard on the hot path: what it makes of every mood, and that asking it costs next to nothing however
 * many takers there are.
 */

import { expect, test } from 'vitest';
import { createConductBook } from './taker-statistics.ts';
import { CALM, createGuard } from './guard.ts';
import type { PairPrice } from '../market/market.ts';
import { zLpRisk } from '../config/risk-config.ts';
import type { Route } from '../quoting/route.ts';
import { createWatch } from './pair-monitor.ts';

const route = { pair: { base: 'WETH', quote: 'USDC' }, pairName: 'WETH-USDC' } as Route;
const leg = { sigmaFloor: 0.4 };
const priceOf = (value: number, wildness = 1) =>
  ({ mid: { value }, quoteValue: 1, sigma: 0.9, wildness, base: leg, quote: leg }) as unknown as PairPrice;

function desk(change: object = {}) {
  const risk = zLpRisk.parse(change);
  const state = { price: priceOf(2_500), cut: false };
  const conduct = createConductBook(() => risk);
  const guard = createGuard(
    { market: { pair: () => state.price }, watch: createWatch(() => risk), conduct, cut: () => state.cut },
    risk,
  );
  return {
    state,
    conduct,
    guard,
    admit: (taker = 'a', nowMs = 0, minValidUntil: number | null = null) =>
      guard.admit({ taker: taker as `0x${string}`, minValidUntil }, route, nowMs),
  };
}

test('calm, cut, wild and both', () => {
  const { state, admit } = desk();
  expect(admit()).toBe(CALM);
  state.cut = true;
  expect(admit()).toMatchObject({ sizeFactor: 0.5, sigmaFactor: 1, control: 'drawdown' });
  state.price = priceOf(2_500, 3.5);
  expect(admit('a', 100)).toMatchObject({
    sizeFactor: 0.125,
    sigmaFactor: 1.5,
    mostSeconds: 5,
    control: 'vol_spike',
  });
  expect(admit('a', 100, 30)).toMatchObject({ declined: 'validity', control: 'vol_spike' });
  expect(admit('a', 100, 5)).toMatchObject({ mostSeconds: 5 });
});

test('a wild minute below the floor is no wild minute', () => {
  const { state, admit } = desk();
  state.price = { ...priceOf(2_500, 9), sigma: 0.4 };
  expect(admit()).toBe(CALM);
});

test('of many takers the last are remembered, and the crowd is forgotten', () => {
  const { admit } = desk({ takers: 100, rate: { perSecond: 0.001, burst: 1 } });
  expect(admit('first')).toBe(CALM);
  expect(admit('first')).toMatchObject({ control: 'rate_limit' });
  for (let n = 0; n < 100; n++) admit(`t${n}`);
  expect(admit('first')).toBe(CALM);
  expect(admit('t99')).toMatchObject({ control: 'rate_limit' });
});
