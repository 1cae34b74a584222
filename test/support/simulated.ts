/**
 * Makes an LP for tests of the simulator: one or two pairs on one or two chains, with the model's parameters
 * and the default risk controls.
 */

import type { Address } from '../../src/domain/hex.ts';
import { zLpRisk } from '../../src/lp/config/risk-config.ts';
import { DEFAULT_PARAMS } from '../../src/pricing/params.ts';
import type { MakerPair, MakerSetup, SimRoute, SimToken } from '../../src/sim/maker/setup.ts';
import type { MarketSetup } from '../../src/sim/market.ts';

const ADDRESSES = {
  WETH: '0x1111111111111111111111111111111111111111',
  USDC: '0x2222222222222222222222222222222222222222',
  WBTC: '0x3333333333333333333333333333333333333333',
} as const satisfies Record<string, Address>;
type Symbol = keyof typeof ADDRESSES;
const DECIMALS: Record<Symbol, number> = { WETH: 18, USDC: 6, WBTC: 8 };
const token = (symbol: Symbol, chainId: number): SimToken => ({
  chainId,
  token: ADDRESSES[symbol],
  symbol,
  decimals: DECIMALS[symbol],
});

/** `bases` has a pair for each, against USDC. */
export function simulatedMaker(
  changed: Partial<MakerSetup> = {},
  chains: readonly number[] = [1, 2],
  bases: readonly ('WETH' | 'WBTC')[] = ['WETH'],
): MakerSetup {
  const pairOf = (base: 'WETH' | 'WBTC', pair: number): MakerPair => ({
    base,
    quote: 'USDC',
    routes: chains.flatMap((from) =>
      chains.flatMap((to) =>
        (['buy', 'sell'] as const).map((lp): SimRoute => ({
          pair,
          corridor: `c${from}-c${to}`,
          sameChain: from === to,
          lp,
          params: DEFAULT_PARAMS,
          input: token(lp === 'buy' ? base : 'USDC', from),
          output: token(lp === 'buy' ? 'USDC' : base, to),
          lockSeconds: 60,
          landingSeconds: 30,
        })),
      ),
    ),
    softBand: null,
    hardBand: null,
    target: null,
    sigmaFloor: 0.4,
  });
  const bucket = (chainId: number, asset: Symbol, whole: bigint) => ({
    ...token(asset, chainId),
    asset,
    start: whole * 10n ** BigInt(DECIMALS[asset]),
  });
  return {
    name: 'lp',
    pairs: bases.map(pairOf),
    buckets: chains.flatMap((chainId) => [
      ...bases.map((base) => bucket(chainId, base, base === 'WETH' ? 100n : 4n)),
      bucket(chainId, 'USDC', 250_000n),
    ]),
    quoting: { validitySeconds: 10, pointsSeconds: [5], maxValiditySeconds: 60, clockSkewSeconds: 1 },
    graceSeconds: 15,
    limits: {},
    risk: zLpRisk.parse({}),
    adverseBps: 1.5,
    noiseBps: 0.5,
    gasUsd: 0.1,
    ...changed,
  };
}

/** Simulates a market with one path for each pair of the LPs. */
export function simulatedMarket(
  paths: readonly (readonly number[])[],
  makers: readonly MakerSetup[],
  changed: Partial<MarketSetup> = {},
): MarketSetup {
  return {
    seed: 1,
    startMs: Date.UTC(2026, 0, 1),
    paths: paths.map((prices) => ({ prices, motion: { sigma: 0.9, jumpsPerHour: 1, jumpBps: 30 } })),
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
