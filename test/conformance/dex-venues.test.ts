/** The route venue suite on both kinds of DEX, direct and over two pools. */

import type { DexKind } from '../../src/adapters/dex/pools.ts';
import type { TokenInfo } from '../../src/domain/chain.ts';
import { startDevnet, type TestChain } from '../support/devnet.ts';
import { startDex } from '../support/dex.ts';
import { routeVenueConformance } from './route-venue-suite.ts';

const STORIES: readonly [name: string, kind: DexKind, twoHops: boolean, chainId: number][] = [
  ['a constant-product pair', 'constant_product', false, 31_421],
  ['a concentrated pool', 'concentrated', false, 31_423],
  ['two concentrated pools', 'concentrated', true, 31_422],
];

for (const [name, kind, twoHops, chainId] of STORIES) {
  routeVenueConformance(name, async () => {
    const devnet = await startDevnet([chainId], { landingMarginSeconds: 20, moreTokens: 1 });
    const [chain] = devnet.chains as [TestChain];
    const dex = await startDex(chain);
    const first = kind === 'constant_product' ? 0 : 2;
    return {
      venue: dex.venue(kind),
      origin: chain,
      dest: chain,
      inputToken: chain.usdc,
      outputToken: twoHops ? (chain.deployment.tokens[2] as TokenInfo) : chain.weth,
      amountIn: 1_000_000_000n,
      amountOut: twoHops ? 900n * 10n ** 18n : 4n * 10n ** 17n,
      tooMuch: 2_000_000_000_000n,
      worsen: () => dex.trade(first, chain.usdc.address, 30_000_000_000n),
      restore: () => dex.trade(first, chain.weth.address, 13n * 10n ** 18n),
      stop: () => devnet.stop(),
    };
  });
}
