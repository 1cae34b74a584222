/** Keeps the demo's pools near its market, as arbitrage would. */

import { encodeFunctionData, erc20Abi } from 'viem';
import { pairOutput } from '../../../adapters/dex/constant-product.ts';
import { readContract, v2PairAbi, v3PoolAbi } from '../../../adapters/evm/chain/read-contract.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import { devPoolTraderAbi } from '../../../adapters/evm/deploy/abi/dev-pool-trader.ts';
import { repeat } from '../repeat.ts';
import { rpc, sendUnlocked } from './anvil.ts';
import type { DemoState } from '../state.ts';

const POLL_MS = 2_000;
const PAIR_FEE = 0.003;
const KEEPER: Address = '0x000000000000000000000000000000000a4b1743';

interface KeptPool {
  rpcUrl: string;
  trader: Address;
  pool: Address;
  fee: number | null;
  tokens: readonly [Address, Address];
  fair(): number;
}

type PoolChain = Pick<DemoState['chains'][number], 'rpcUrl' | 'dex' | 'tokens'>;

export function keepPools(
  chains: readonly PoolChain[],
  dollars: (symbol: string) => number,
  trouble: (error: unknown) => void,
): { stop(): void } {
  const pools = chains.flatMap(({ rpcUrl, dex, tokens }) =>
    dex.pools.map(({ address, tokens: pair, fee }): KeptPool => {
      const sides = pair[0] < pair[1] ? pair : ([pair[1], pair[0]] as const);
      const worth = (token: Address) => {
        const { symbol, decimals } = tokens.find((one) => one.address === token) as (typeof tokens)[number];
        return dollars(symbol) / 10 ** decimals;
      };
      return {
        rpcUrl,
        trader: dex.trader,
        pool: address,
        fee,
        tokens: sides,
        fair: () => worth(sides[0]) / worth(sides[1]),
      };
    }),
  );
  return repeat(POLL_MS, async (stopped) => {
    // In sequence: pools of one chain trade from one balance.
    for (const pool of pools) if (!stopped()) await correctPool(pool).catch(trouble);
  });
}

async function correctPool(kept: KeptPool): Promise<void> {
  const { rpcUrl, pool, trader, tokens, fee } = kept;
  const call = async (to: Address, data: Hex) =>
    (await rpc(rpcUrl, 'eth_call', [{ to, data }, 'latest'])) as Hex;
  const [first, second] =
    fee === null
      ? await readContract(call, { abi: v2PairAbi, address: pool, functionName: 'getReserves' })
      : await readContract(call, { abi: v3PoolAbi, address: pool, functionName: 'slot0' });
  const price = fee === null ? Number(second) / Number(first) : (Number(first) / 2 ** 96) ** 2;
  const [fair, margin] = [kept.fair(), 1 + (fee === null ? PAIR_FEE : fee / 1_000_000)];
  const zeroForOne = price > fair * margin;
  if (!Number.isFinite(fair) || (!zeroForOne && price * margin >= fair)) return;
  const goal = zeroForOne ? fair * margin : fair / margin;
  const balance = await readContract(call, {
    abi: erc20Abi,
    address: tokens[zeroForOne ? 0 : 1],
    functionName: 'balanceOf',
    args: [trader],
  });
  const data =
    fee === null
      ? pairTrade(pool, [first, BigInt(second)], zeroForOne, goal, balance)
      : poolTrade(pool, zeroForOne, goal, balance);
  if (data === undefined) return;
  await sendUnlocked(rpcUrl, { from: KEEPER, to: trader, data, gas: '0xf4240' });
}

function pairTrade(
  pair: Address,
  [reserve0, reserve1]: readonly [bigint, bigint],
  zeroForOne: boolean,
  goal: number,
  balance: bigint,
): Hex | undefined {
  const side = Math.sqrt(Number(reserve0) * Number(reserve1) * (zeroForOne ? 1 / goal : goal));
  const wanted = BigInt(Math.floor(side)) - (zeroForOne ? reserve0 : reserve1);
  const amountIn = wanted < balance ? wanted : balance;
  const amountOut = amountIn > 0n ? pairOutput({ reserve0, reserve1 }, zeroForOne, amountIn) : undefined;
  return amountOut
    ? encodeFunctionData({
        abi: devPoolTraderAbi,
        functionName: 'swapPair',
        args: [pair, zeroForOne, amountIn, amountOut],
      })
    : undefined;
}

const poolTrade = (pool: Address, zeroForOne: boolean, goal: number, balance: bigint): Hex | undefined =>
  balance > 0n
    ? encodeFunctionData({
        abi: devPoolTraderAbi,
        functionName: 'swap',
        args: [pool, zeroForOne, balance, BigInt(Math.round(Math.sqrt(goal) * 2 ** 96))],
      })
    : undefined;
