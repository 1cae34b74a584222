/**
 * An LP for tests of the simulator: WETH and USDC on one or two chains, with the model's parameters and the
 * default risk controls.
 */

import type { Address } from '../../src/domain/hex.ts';
import { zLpRisk } from '../../src/lp/config/risk-config.ts';
import { DEFAULT_PARAMS } from '../../src/pricing/params.ts';
import type { MakerSetup, SimRoute, SimToken } from '../../src/sim/maker.ts';
import type { MarketSetup } from '../../src/sim/market.ts';

const WETH: Address = '0x1111111111111111111111111111111111111111';
const USDC: Address = '0x2222222222222222222222222222222222222222';
const token = (symbol: 'WETH' | 'USDC', chainId: number): SimToken =>
  symbol === 'WETH'
    ? { chainId, token: WETH, symbol, decimals: 18 }
    : { chainId, token: USDC, symbol, decimals: 6 };

export function simulatedMaker(
  changed: Partial<MakerSetup> = {},
  chains: readonly number[] = [1, 2],
): MakerSetup {
  const routes = chains.flatMap((from) =>
    chains.flatMap((to) =>
      (['buy', 'sell'] as const).map((lp): SimRoute => ({
        corridor: `c${from}-c${to}`,
        sameChain: from === to,
        lp,
        params: DEFAULT_PARAMS,
        input: token(lp === 'buy' ? 'WETH' : 'USDC', from),
        output: token(lp === 'buy' ? 'USDC' : 'WETH', to),
        lockSeconds: 60,
        landingSeconds: 30,
      })),
    ),
  );
  return {
    name: 'lp',
    base: 'WETH',
    quote: 'USDC',
    routes,
    buckets: chains.flatMap((chainId) => [
      { chainId, token: WETH, asset: 'WETH', decimals: 18, start: 100n * 10n ** 18n },
      { chainId, token: USDC, asset: 'USDC', decimals: 6, start: 250_000n * 10n ** 6n },
    ]),
    softBand: null,
    hardBand: null,
    target: null,
    quoting: { validitySeconds: 10, pointsSeconds: [5], maxValiditySeconds: 60, clockSkewSeconds: 1 },
    graceSeconds: 15,
    limits: {},
    risk: zLpRisk.parse({}),
    sigmaFloor: 0.4,
    adverseBps: 1.5,
    noiseBps: 0.5,
    gasUsd: 0.1,
    ...changed,
  };
}

export function simulatedMarket(
  prices: readonly number[],
  makers: readonly MakerSetup[],
  changed: Partial<MarketSetup> = {},
): MarketSetup {
  return {
    seed: 1,
    startMs: Date.UTC(2026, 0, 1),
    prices,
    motion: { sigma: 0.9, jumpsPerHour: 1, jumpBps: 30 },
    sampleSeconds: 10,
    takers: {
      rfqSeconds: 2,
      theta: 0.2,
      takers: 10,
      holders: 2,
      medianUsd: 10_000,
      sizeSpread: 1,
      mostUsd: 250_000,
      alpha: -2,
      beta: 0.25,
      platformFeeBps: 2,
    },
    makers,
    ...changed,
  };
}
