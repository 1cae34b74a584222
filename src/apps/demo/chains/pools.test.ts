/** Pools follow the market up and down to within their fee. */

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Devnet, startDevnet, type TestChain } from '../../../../test/support/devnet.ts';
import { startDex, type TestDex } from '../../../../test/support/dex.ts';
import { readContract, v2PairAbi, v3PoolAbi } from '../../../adapters/evm/chain/read-contract.ts';
import type { Address } from '../../../domain/hex.ts';
import { keepPools } from './pools.ts';

let devnet: Devnet;
let chain: TestChain;
let dex: TestDex;
beforeAll(async () => {
  devnet = await startDevnet([31_451], { moreTokens: 1 });
  [chain] = devnet.chains as [TestChain];
  dex = await startDex(chain);
});
afterAll(() => devnet.stop());

/** Reads the USD for one WETH in a USDC pool. */
async function priceIn(index: number): Promise<number> {
  const concentrated = dex.listed[index]?.fee !== null;
  const address = dex.pools[index] as Address;
  const { read } = chain.port;
  const [first, second] = concentrated
    ? await readContract(read, { abi: v3PoolAbi, address, functionName: 'slot0' })
    : await readContract(read, { abi: v2PairAbi, address, functionName: 'getReserves' });
  const price = concentrated ? (Number(first) / 2 ** 96) ** 2 : Number(second) / Number(first);
  return chain.usdc.address < chain.weth.address ? 1e12 / price : price * 1e12;
}

test('the keeper looks at the pools at once, and at no further pool after a stop', async () => {
  const pools = dex.listed.map(({ tokens: [a, b], fee }, index) => ({
    address: dex.pools[index] as Address,
    tokens: [a, b] as [Address, Address],
    fee,
  }));
  const troubles: unknown[] = [];
  const keeper = keepPools(
    [{ rpcUrl: 'http://127.0.0.1:1', tokens: [], dex: { ...dex, pools } }],
    () => 1,
    (error) => {
      troubles.push(error);
      if (troubles.length === 2) keeper.stop();
    },
  );
  await vi.waitFor(() => expect(troubles).toHaveLength(2), { timeout: 1_000 });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(pools.length).toBeGreaterThan(2);
  expect(troubles).toHaveLength(2);
});

test('the keeper trades a v2 pair and a v3 pool back to the market price', async () => {
  for (const { address, decimals } of chain.deployment.tokens)
    await dex.mint(address, dex.trader, 10_000_000n * 10n ** BigInt(decimals));
  let eth = 2_500;
  const troubles: unknown[] = [];
  const tokens = chain.deployment.tokens.map(({ symbol, address, decimals }) => ({
    symbol,
    address,
    decimals,
    eip3009: null,
  }));
  const pools = dex.listed.map(({ tokens: [a, b], fee }, index) => ({
    address: dex.pools[index] as Address,
    tokens: [a, b] as [Address, Address],
    fee,
  }));
  const keeper = keepPools(
    [{ rpcUrl: chain.anvil.url, tokens, dex: { ...dex, pools } }],
    (symbol) => (symbol === 'WETH' ? eth : 1),
    (error) => troubles.push(error),
  );
  try {
    for (const market of [2_750, 2_300]) {
      eth = market;
      await vi.waitFor(
        async () => {
          for (const index of [0, 2])
            expect(Math.abs(Math.log((await priceIn(index)) / market))).toBeLessThan(0.0035);
        },
        { timeout: 40_000, interval: 100 },
      );
    }
    // They stop where the fee exceeds the difference.
    for (const index of [0, 2])
      expect(Math.abs(Math.log((await priceIn(index)) / eth))).toBeGreaterThan(0.002);
    expect(troubles).toEqual([]);
  } finally {
    keeper.stop();
  }
});
