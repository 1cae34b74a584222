/**
 * Compares our amounts with those of the real contracts, to the unit, over random pools, sizes, directions
 * and tick crossings.
 */

import fc from 'fast-check';
import routerArtifact from '@uniswap/v2-periphery/build/UniswapV2Router02.json' with { type: 'json' };
import quoterArtifact from '@uniswap/v3-periphery/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json' with { type: 'json' };
import { type Abi, decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEPLOYER, type Devnet, startDevnet, type TestChain } from '../../../test/support/devnet.ts';
import { startDex, type TestDex } from '../../../test/support/dex.ts';
import type { Address, Hex } from '../../domain/hex.ts';
import { devPoolTraderAbi } from '../evm/deploy/abi/dev-pool-trader.ts';
import { connectDev } from '../evm/deploy/deploy.ts';
import { createPoolReader, type PoolState } from './pools.ts';
import { sqrtPriceAtTick } from './tick-price.ts';

/** Another one tries other pools and sizes. */
const SEED = Number(process.env['DEX_SEED'] ?? 1);
/** Almost as far as prices go: what is compared is the arithmetic, not the size limit. */
const maxMoveBps = 9_999;
const FEES = [500, 3_000, 10_000] as const;
const SPACINGS = { 500: 10, 3_000: 60, 10_000: 200 } as const;
const FACTORY = parseAbi([
  'function createPool(address a, address b, uint24 fee) returns (address)',
  'function getPool(address a, address b, uint24 fee) view returns (address)',
]);
const POOL = parseAbi([
  'function initialize(uint160 sqrtPriceX96)',
  'function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16, uint16, uint16, uint8, bool)',
]);
const quoterAbi = quoterArtifact.abi as Abi;
const routerAbi = routerArtifact.abi as unknown as Abi;

let devnet: Devnet;
let chain: TestChain;
let dex: TestDex;
let quoter: Address;
let router: Address;

beforeAll(async () => {
  devnet = await startDevnet([31_431], { moreTokens: 4 });
  [chain] = devnet.chains as [TestChain];
  dex = await startDex(chain);
  const dev = await connectDev({
    rpcUrl: chain.anvil.url,
    chainId: chain.chain.id,
    deployerPrivateKey: DEPLOYER.privateKey,
  });
  quoter = dev.create({
    abi: quoterAbi,
    bytecode: quoterArtifact.bytecode as Hex,
    args: [dex.concentrated.factory, chain.weth.address],
  });
  router = dev.create({
    abi: routerAbi,
    bytecode: `0x${routerArtifact.bytecode}`,
    args: [dex.constantProduct.factory, chain.weth.address],
  });
  await dev.settled();
});
afterAll(() => devnet.stop());

const newest = async () => BigInt(await chain.anvil.rpc<Hex>('eth_blockNumber'));

/** Calls the contract; undefined: it refuses. */
async function ask<T>(
  to: Address,
  abi: Abi,
  functionName: string,
  args: readonly unknown[],
): Promise<T | undefined> {
  const answer = await chain.port.read(to, encodeFunctionData({ abi, functionName, args }));
  return answer === undefined ? undefined : (decodeFunctionResult({ abi, functionName, data: answer }) as T);
}

const token = (n: number) => chain.deployment.tokens[n]?.address as Address;
/** Draws every magnitude with the same likelihood. */
const amounts = (bits: number) =>
  fc.integer({ min: 0, max: bits }).chain((size) => fc.bigInt({ min: 1n, max: 1n << BigInt(size) }));

describe('constant product', () => {
  test('both directions equal the router', async () => {
    const reader = createPoolReader(
      chain.port,
      'constant_product',
      { tokens: [chain.usdc.address, chain.weth.address], fee: null },
      { factory: dex.constantProduct.factory, maxMoveBps },
    );
    let compared = 0;
    for (const gift of [0n, 1n, 987_654_321n, 10n ** 20n]) {
      if (gift > 0n) await dex.trade(0, chain.usdc.address, gift);
      const state = (await reader.read(await newest())) as PoolState;
      await fc.assert(
        fc.asyncProperty(fc.boolean(), amounts(111), async (zero, amount) => {
          const [tokenIn, tokenOut] = zero
            ? [chain.usdc.address, chain.weth.address]
            : [chain.weth.address, chain.usdc.address];
          const [out, needed] = await Promise.all([
            ask<readonly bigint[]>(router, routerAbi, 'getAmountsOut', [amount, [tokenIn, tokenOut]]),
            ask<readonly bigint[]>(router, routerAbi, 'getAmountsIn', [amount, [tokenIn, tokenOut]]),
          ]);
          const [given, taken] = [state.give(tokenIn, amount), state.take(tokenIn, amount)];
          // Where the price would move too far we say nothing.
          if (given) expect(given.amountOut).toBe(out?.[1]);
          if (taken) expect(taken.amountIn).toBe(needed?.[0]);
          if (needed === undefined) expect(taken).toBeUndefined();
          compared += (given ? 1 : 0) + (taken ? 1 : 0);
        }),
        { numRuns: 30, seed: SEED },
      );
    }
    expect(compared).toBeGreaterThan(80);
  });
});

describe('concentrated', () => {
  interface RandomPool {
    fee: (typeof FEES)[number];
    start: number;
    /** The bounds count in tick spacings from the start. */
    positions: readonly { low: number; width: number; liquidity: bigint }[];
  }
  const randomPool = (fee: RandomPool['fee']): fc.Arbitrary<RandomPool> =>
    fc.record({
      fee: fc.constant(fee),
      start: fc.integer({ min: -300_000, max: 300_000 }),
      positions: fc.array(
        fc.record({
          low: fc.integer({ min: -400, max: 200 }),
          width: fc.integer({ min: 1, max: 600 }),
          liquidity: amounts(80).map((liquidity) => liquidity + 1_000n),
        }),
        { minLength: 1, maxLength: 14 },
      ),
    });

  async function create(
    { fee, start, positions }: RandomPool,
    tokens: readonly [Address, Address],
  ): Promise<Address> {
    const spacing = SPACINGS[fee];
    const dev = await connectDev({
      rpcUrl: chain.anvil.url,
      chainId: chain.chain.id,
      deployerPrivateKey: DEPLOYER.privateKey,
    });
    dev.send(
      dex.concentrated.factory,
      encodeFunctionData({ abi: FACTORY, functionName: 'createPool', args: [...tokens, fee] }),
    );
    await dev.settled();
    const pool = (await ask<Address>(dex.concentrated.factory, FACTORY, 'getPool', [
      ...tokens,
      fee,
    ])) as Address;
    dev.send(
      pool,
      encodeFunctionData({ abi: POOL, functionName: 'initialize', args: [sqrtPriceAtTick(start) + 12_345n] }),
    );
    for (const { low, width, liquidity } of positions) {
      const lower = (Math.floor(start / spacing) + low) * spacing;
      dev.send(
        dex.trader,
        encodeFunctionData({
          abi: devPoolTraderAbi,
          functionName: 'mint',
          args: [pool, lower, lower + width * spacing, liquidity],
        }),
      );
    }
    await dev.settled();
    return pool;
  }

  async function trade(pool: Address, up: boolean): Promise<void> {
    const dev = await connectDev({
      rpcUrl: chain.anvil.url,
      chainId: chain.chain.id,
      deployerPrivateKey: DEPLOYER.privateKey,
    });
    dev.send(
      dex.trader,
      encodeFunctionData({
        abi: devPoolTraderAbi,
        functionName: 'swap',
        args: [pool, !up, up ? 987_654_321n : 98_765_432_100n, sqrtPriceAtTick(up ? 887_271 : -887_271)],
      }),
    );
    await dev.settled();
  }

  test('both directions equal the quoter, before and after trades', async () => {
    for (const one of chain.deployment.tokens.slice(2)) await dex.mint(one.address, dex.trader, 1n << 200n);
    const counts = { compared: 0, crossed: 0, dry: 0 };
    const pairs = [
      [2, 3],
      [2, 4],
      [3, 4],
      [2, 5],
      [3, 5],
      [4, 5],
    ] as const;
    const chosen = fc.sample(fc.tuple(...pairs.map((_, n) => randomPool(FEES[n % 3] as RandomPool['fee']))), {
      numRuns: 1,
      seed: SEED,
    })[0] as RandomPool[];
    for (const [n, [a, b]] of pairs.entries()) {
      const spec = chosen[n] as RandomPool;
      const tokens = [token(a), token(b)] as const;
      const pool = await create(spec, tokens);
      const reader = createPoolReader(
        chain.port,
        'concentrated',
        { tokens, fee: spec.fee },
        { factory: dex.concentrated.factory, maxMoveBps },
      );
      for (const round of [0, 1, 2]) {
        if (round > 0) await trade(pool, round === 1);
        const slot0 = (await ask<readonly [sqrtPrice: bigint]>(pool, POOL, 'slot0', [])) as readonly [bigint];
        const state = (await reader.read(await newest())) as PoolState;
        await fc.assert(
          fc.asyncProperty(fc.boolean(), amounts(100), (zero, amount) =>
            compare(state, zero ? tokens : [tokens[1], tokens[0]], {
              fee: spec.fee,
              amount,
              counts,
              sqrtPrice: slot0[0],
            }),
          ),
          { numRuns: 24, seed: SEED + n * 10 + round },
        );
      }
    }
    expect(counts.compared).toBeGreaterThan(200);
    expect(counts.crossed).toBeGreaterThan(20);
    expect(counts.dry).toBeGreaterThan(5);
  });

  async function compare(
    state: PoolState,
    [tokenIn, tokenOut]: readonly [Address, Address],
    {
      fee,
      amount,
      sqrtPrice,
      counts,
    }: {
      fee: number;
      amount: bigint;
      sqrtPrice: bigint;
      counts: { compared: number; crossed: number; dry: number };
    },
  ): Promise<void> {
    const isFar = (after: bigint) =>
      Math.abs(2 * Math.log(Number(after) / Number(sqrtPrice))) >=
      0.999 * Math.log(10_000 / (10_000 - maxMoveBps));
    type Answer = readonly [amount: bigint, sqrtPriceAfter: bigint, crossed: number, gas: bigint];
    const question = { tokenIn, tokenOut, fee, sqrtPriceLimitX96: 0n };
    const [forward, backward] = await Promise.all([
      ask<Answer>(quoter, quoterAbi, 'quoteExactInputSingle', [{ ...question, amountIn: amount }]),
      ask<Answer>(quoter, quoterAbi, 'quoteExactOutputSingle', [{ ...question, amount }]),
    ]);
    const [given, taken] = [state.give(tokenIn, amount), state.take(tokenIn, amount)];
    if (given) expect(given.amountOut).toBe(forward?.[0]);
    if (taken) expect(taken.amountIn).toBe(backward?.[0]);
    if (backward === undefined) expect(taken).toBeUndefined();
    // Where we say nothing, the contract goes to the end of prices, or refuses.
    if (!given && forward) expect(isFar(forward[1])).toBe(true);
    if (!taken && backward) expect(isFar(backward[1])).toBe(true);
    counts.compared += (given ? 1 : 0) + (taken ? 1 : 0);
    counts.crossed += (given?.crossed ?? 0) + (taken?.crossed ?? 0);
    counts.dry += given && taken ? 0 : 1;
  }
});
