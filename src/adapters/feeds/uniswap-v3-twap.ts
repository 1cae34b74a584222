/**
 * Reads the average price of a Uniswap v3 pool. It lags and large owners can move it, so it is only a
 * reference.
 */

import type { Address } from '../../domain/hex.ts';
import { tryReadContract, v3PoolAbi } from '../evm/chain/read-contract.ts';
import type { Block, ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Feed, FeedListener } from '../../ports/feed.ts';
import { readPrices } from './format.ts';
import { contractFeed, readDecimals } from './per-head.ts';

interface TwapPool {
  address: Address;
  base: Address;
  windowSeconds: number;
}

interface TwapFeedOptions {
  source: string;
  pools: Readonly<Record<string, TwapPool>>;
}

export function createUniswapV3TwapFeed(
  { clock, chain }: { clock: Clock; chain: ChainPort },
  { source, pools }: TwapFeedOptions,
): Feed {
  const scales = new Map<string, { power: number; baseFirst: boolean }>();
  const lastDetail = new Map<string, string>();

  async function scaleOf(symbol: string, { address, base }: TwapPool, at: bigint) {
    const known = scales.get(symbol);
    if (known !== undefined) return known;
    const [token0, token1] = await Promise.all(
      (['token0', 'token1'] as const).map(async (functionName) =>
        (await tryReadContract(chain.read, { abi: v3PoolAbi, address, functionName }, at))?.toLowerCase(),
      ),
    );
    if (token0 === undefined || token1 === undefined || (base !== token0 && base !== token1))
      return undefined;
    const [decimals0, decimals1] = await Promise.all([
      readDecimals(chain, token0 as Address, at),
      readDecimals(chain, token1 as Address, at),
    ]);
    if (decimals0 === undefined || decimals1 === undefined) return undefined;
    const scale = { power: decimals0 - decimals1, baseFirst: base === token0 };
    scales.set(symbol, scale);
    return scale;
  }

  async function one(listener: FeedListener, symbol: string, pool: TwapPool, block: Block): Promise<void> {
    const rejected = (detail: string) => {
      if (lastDetail.get(symbol) !== detail) listener.trouble?.({ kind: 'rejected', symbol, detail });
      lastDetail.set(symbol, detail);
    };
    const scale = await scaleOf(symbol, pool, block.number);
    if (scale === undefined)
      return rejected(`${pool.address} on ${chain.chain.slug} is no pool of ${pool.base}`);
    const observed = await tryReadContract(
      chain.read,
      { abi: v3PoolAbi, address: pool.address, functionName: 'observe', args: [[pool.windowSeconds, 0]] },
      block.number,
    );
    const [before, after] = observed?.[0] ?? [];
    if (before === undefined || after === undefined)
      return rejected(
        `the pool stores less than ${pool.windowSeconds} s of history: raise its observation ` +
          'cardinality or shorten the window',
      );
    const price = priceAtTick(floorDiv(after - before, BigInt(pool.windowSeconds)), scale);
    const text = price.toPrecision(15);
    const book = readPrices(text, text);
    if (typeof book === 'string') return rejected('the pool is at the end of its range');
    lastDetail.delete(symbol);
    listener.reference?.({
      source,
      symbol,
      price: book.bid,
      atMs: Math.min(clock.nowMs(), block.timestamp * 1_000),
    });
  }

  return contractFeed(chain, source, pools, one);
}

/** Computes the whole tokens of the other side per whole base token. A float suffices to check prices. */
function priceAtTick(tick: bigint, { power, baseFirst }: { power: number; baseFirst: boolean }): number {
  // token1 per token0 in base units is 1.0001^tick.
  const exponent = Number(tick) * Math.log10(1.0001) + power;
  return 10 ** (baseFirst ? exponent : -exponent);
}

/** Divides and rounds towards negative infinity, as Uniswap's library does. */
function floorDiv(a: bigint, b: bigint): bigint {
  return a / b - (a < 0n && a % b !== 0n ? 1n : 0n);
}
