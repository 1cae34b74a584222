/** Reads listed pools at a block, so that swaps can be priced in memory. */

import { type Address, ZERO_ADDRESS } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import {
  tryReadContract,
  v2FactoryAbi,
  v2PairAbi,
  v3FactoryAbi,
  v3PoolAbi,
} from '../evm/chain/read-contract.ts';
import { type ConcentratedPool, type Swap, swapConcentrated } from './concentrated.ts';
import { type ConstantProductPair, pairFeeUp, pairHolds, pairInput, pairOutput } from './constant-product.ts';
import { MAX_TICK, MIN_TICK } from './tick-price.ts';

export type DexKind = 'constant_product' | 'concentrated';

export interface ListedPool {
  tokens: readonly [Address, Address];
  /** Millionths; null for constant-product pairs. */
  fee: number | null;
}

/**
 * A pool at one block. The amounts are undefined beyond the liquidity or allowed move; `amountOut` 0n: the
 * amount is too small.
 */
export interface PoolState {
  give(tokenIn: Address, amountIn: bigint): Swap | undefined;
  /** Swapping the quoted input may return one unit less. */
  take(tokenIn: Address, amountOut: bigint): Swap | undefined;
}

export interface PoolReader {
  readonly pool: ListedPool;
  read(at: bigint): Promise<PoolState | undefined>;
}

interface PoolOptions {
  factory: Address;
  maxMoveBps: number;
}

const WORD = 256;

export function createPoolReader(
  chain: ChainPort,
  kind: DexKind,
  pool: ListedPool,
  { factory, maxMoveBps }: PoolOptions,
): PoolReader {
  const [token0, token1] = pool.tokens[0] < pool.tokens[1] ? pool.tokens : [pool.tokens[1], pool.tokens[0]];
  let place: Address | undefined;

  async function find(at: bigint): Promise<Address | undefined> {
    const found =
      kind === 'constant_product'
        ? await tryReadContract(
            chain.read,
            { abi: v2FactoryAbi, address: factory, functionName: 'getPair', args: [token0, token1] },
            at,
          )
        : await tryReadContract(
            chain.read,
            {
              abi: v3FactoryAbi,
              address: factory,
              functionName: 'getPool',
              args: [token0, token1, pool.fee ?? 0],
            },
            at,
          );
    place = found === undefined || found === ZERO_ADDRESS ? undefined : (found.toLowerCase() as Address);
    return place;
  }

  const readState =
    kind === 'constant_product'
      ? pairReader(chain, token0, maxMoveBps)
      : concentratedReader(chain, token0, BigInt(pool.fee ?? 0), maxMoveBps);
  return {
    pool,
    async read(at) {
      const address = place ?? (await find(at));
      return address && readState(address, at);
    },
  };
}

type StateReader = (address: Address, at: bigint) => Promise<PoolState | undefined>;

function pairReader(chain: ChainPort, token0: Address, maxMoveBps: number): StateReader {
  return async (address, at) => {
    const [reserve0, reserve1] =
      (await tryReadContract(chain.read, { abi: v2PairAbi, address, functionName: 'getReserves' }, at)) ?? [];
    if (!reserve0 || !reserve1) return undefined;
    const pair: ConstantProductPair = { reserve0, reserve1 };
    const swap = (
      zeroForOne: boolean,
      amountIn: bigint | undefined,
      amountOut: bigint | undefined,
    ): Swap | undefined =>
      amountIn === undefined ||
      amountOut === undefined ||
      !pairHolds(pair, zeroForOne, amountIn, amountOut, maxMoveBps)
        ? undefined
        : { amountIn, amountOut, fee: pairFeeUp(amountIn), crossed: 0 };
    return {
      give: (tokenIn, amountIn) =>
        swap(tokenIn === token0, amountIn, pairOutput(pair, tokenIn === token0, amountIn)),
      take: (tokenIn, amountOut) =>
        swap(tokenIn === token0, pairInput(pair, tokenIn === token0, amountOut), amountOut),
    };
  };
}

/** Caches the last ticks, so the next block usually takes one round trip. */
function concentratedReader(chain: ChainPort, token0: Address, fee: bigint, maxMoveBps: number): StateReader {
  const reach = Math.floor(Math.log(10_000 / (10_000 - maxMoveBps)) / Math.log(1.0001));
  let tickSpacing: number | undefined;
  let likelyWords: readonly number[] = [];
  let likelyTicks: readonly number[] = [];

  return async (address, at) => {
    const contract = { abi: v3PoolAbi, address } as const;
    const words = new Map<number, Promise<bigint>>();
    const nets = new Map<number, Promise<bigint>>();
    const fetchWord = async (word: number): Promise<bigint> =>
      (await tryReadContract(chain.read, { ...contract, functionName: 'tickBitmap', args: [word] }, at)) ??
      0n;
    const fetchNet = async (tick: number): Promise<bigint> =>
      (await tryReadContract(chain.read, { ...contract, functionName: 'ticks', args: [tick] }, at))?.[1] ??
      0n;
    const readWord = (word: number) => words.set(word, spare(fetchWord(word)));
    const readTick = (tick: number) => nets.set(tick, spare(fetchNet(tick)));

    likelyWords.forEach(readWord);
    likelyTicks.forEach(readTick);
    const [slot0, liquidity, spacing] = await Promise.all([
      tryReadContract(chain.read, { ...contract, functionName: 'slot0' }, at),
      tryReadContract(chain.read, { ...contract, functionName: 'liquidity' }, at),
      tickSpacing ?? tryReadContract(chain.read, { ...contract, functionName: 'tickSpacing' }, at),
    ]);
    if (slot0 === undefined || liquidity === undefined || spacing === undefined) return undefined;
    const [sqrtPrice, tick] = slot0;
    if (sqrtPrice === 0n) return undefined;
    tickSpacing = spacing;

    const wordAt = (one: number) => Math.floor(Math.floor(one / spacing) / WORD);
    const [low, high] = [
      wordAt(Math.max(MIN_TICK, tick - reach)),
      wordAt(Math.min(MAX_TICK, tick + reach) + spacing),
    ];
    likelyWords = Array.from({ length: high - low + 1 }, (_, n) => low + n);
    for (const word of likelyWords) if (!words.has(word)) readWord(word);
    const initialised = (
      await Promise.all(
        likelyWords.map(async (word) => ticksOf(word, (await words.get(word)) as bigint, spacing)),
      )
    ).flat();
    likelyTicks = initialised;
    for (const one of initialised) if (!nets.has(one)) readTick(one);
    const ticks = await Promise.all(
      initialised.map(async (one) => ({ tick: one, net: (await nets.get(one)) as bigint })),
    );

    const pool: ConcentratedPool = { sqrtPrice, tick, liquidity, fee, tickSpacing: spacing, ticks };
    return {
      give: (tokenIn, amountIn) => swapConcentrated(pool, tokenIn === token0, true, amountIn, reach),
      take: (tokenIn, amountOut) => swapConcentrated(pool, tokenIn === token0, false, amountOut, reach),
    };
  };
}

/** Marks a speculative read: its rejection is ignored unless the result is used. */
function spare<T>(reading: Promise<T>): Promise<T> {
  reading.catch(() => {});
  return reading;
}

function ticksOf(word: number, bits: bigint, spacing: number): number[] {
  const found: number[] = [];
  for (let bit = 0, rest = bits; rest > 0n; bit += 1, rest >>= 1n)
    if ((rest & 1n) === 1n) found.push((word * WORD + bit) * spacing);
  return found;
}
