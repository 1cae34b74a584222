/**
 * Deploys the real Uniswap on a test chain, with pools of USDC, WETH and T0 at 2,500 and par, and ways to
 * move them.
 */

import { encodeFunctionData, parseAbi } from 'viem';
import { createDexVenue, type DexVenueOptions } from '../../src/adapters/dex/venue.ts';
import type { DexKind, ListedPool } from '../../src/adapters/dex/pools.ts';
import { sqrtPriceAtTick } from '../../src/adapters/dex/tick-price.ts';
import { deployDex, type DevPool, type DexDeployment } from '../../src/adapters/dex/deploy-dex.ts';
import type { Address } from '../../src/domain/hex.ts';
import type { RouteVenue } from '../../src/ports/route-venue.ts';
import { devPoolTraderAbi } from '../../src/adapters/evm/deploy/abi/dev-pool-trader.ts';
import { devTokenAbi } from '../../src/adapters/evm/deploy/abi/dev-token.ts';
import { account, DEPLOYER, type TestChain } from './devnet.ts';

export interface TestDex extends DexDeployment {
  listed: readonly DevPool[];
  venue(kind: DexKind, change?: Partial<DexVenueOptions>): RouteVenue;
  /** Trades through a listed pool, by its number: this much of the first or the second token goes in. */
  trade(pool: number, tokenIn: Address, amountIn: bigint): Promise<void>;
  /** Mints to any account. */
  mint(token: Address, to: Address, amount: bigint): Promise<void>;
}

const SOMEBODY = account(8_000);

/** The chain needs one token more than USDC and WETH. */
export async function startDex(chain: TestChain, pools?: readonly DevPool[]): Promise<TestDex> {
  const { usdc, weth, deployment } = chain;
  const third = deployment.tokens[2];
  if (!third) throw new Error('start the devnet with moreTokens: 1');
  const listed =
    pools ??
    [null, 3_000].flatMap((fee): DevPool[] => [
      { tokens: [usdc.address, weth.address], fee, amounts: [2_500_000_000_000n, 10n ** 21n] },
      { tokens: [weth.address, third.address], fee, amounts: [10n ** 21n, 2_500_000n * 10n ** 18n] },
    ]);
  const dex = await deployDex({
    rpcUrl: chain.anvil.url,
    chainId: chain.chain.id,
    deployerPrivateKey: DEPLOYER.privateKey,
    escrow: chain.chain.escrow,
    pools: listed,
  });
  await chain.fund(SOMEBODY.address, 0n);

  const mint = async (token: Address, to: Address, amount: bigint) =>
    void (await chain.send(
      SOMEBODY.address,
      token,
      encodeFunctionData({ abi: devTokenAbi, functionName: 'mint', args: [to, amount] }),
    ));
  return {
    ...dex,
    listed,
    mint,
    venue(kind, change = {}) {
      const { factory, filler } = kind === 'constant_product' ? dex.constantProduct : dex.concentrated;
      const ofKind = listed
        .filter(({ fee }) => (fee === null) === (kind === 'constant_product'))
        .map(({ tokens, fee }): ListedPool => ({ tokens, fee }));
      return createDexVenue({
        id: kind === 'constant_product' ? 'uniswap-v2' : 'uniswap-v3',
        name: 'Uniswap',
        kind,
        places: [{ chain: chain.port, factory, filler, pools: ofKind }],
        toleranceBps: 0,
        maxMoveBps: 2_000,
        validSeconds: 30,
        limits: { timeoutMs: 5_000, maxInFlight: 8 },
        ...change,
      });
    },
    async trade(index, tokenIn, amountIn) {
      const [{ tokens, fee }, pool] = [listed[index] as DevPool, dex.pools[index] as Address];
      const zeroForOne = tokenIn === (tokens[0] < tokens[1] ? tokens[0] : tokens[1]);
      if (fee === null) {
        // A transfer to the pair moves its price as a trade does, only further.
        await mint(tokenIn, pool, amountIn);
        await chain.send(SOMEBODY.address, pool, encodeFunctionData({ abi: parseAbi(['function sync()']) }));
        return;
      }
      await mint(tokenIn, dex.trader, amountIn);
      const limit = zeroForOne ? sqrtPriceAtTick(-887_271) : sqrtPriceAtTick(887_271);
      await chain.send(
        SOMEBODY.address,
        dex.trader,
        encodeFunctionData({
          abi: devPoolTraderAbi,
          functionName: 'swap',
          args: [pool, zeroForOne, amountIn, limit],
        }),
      );
    },
  };
}
