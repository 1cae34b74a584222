/** The tip that gets a transaction mined soon: what others paid lately, else what the node suggests. */

import { UpstreamError } from '../../../domain/errors.ts';
import type { Hex } from '../../../domain/hex.ts';
import type { ChainRpc } from '../rpc/rpc.ts';

const BLOCKS = 5;
/** The percentile of a block's transactions, by tip. A higher one would follow those who overpay. */
const PERCENTILE = 25;
/**
 * The tip where nobody paid one lately: geth wants one wei, and a tip of zero cannot be raised by a
 * percentage.
 */
const LEAST = 1n;

/**
 * Returns the tip, wei per gas. When a node refuses, the last known value holds. Throws `UpstreamError`
 * `no_tip` while none is known: a constant would be far from the market of most chains.
 */
export function createTips(rpc: Pick<ChainRpc, 'request'>): () => Promise<bigint> {
  let last: bigint | undefined;

  /** Reads the tip of the last blocks, wei per gas; 0n when nobody paid one. */
  async function paidLately(): Promise<bigint> {
    const { reward } = await rpc.request<{ reward?: (Hex[] | null)[] | null }>('eth_feeHistory', [
      `0x${BLOCKS.toString(16)}`,
      'latest',
      [PERCENTILE],
    ]);
    const tips = (reward ?? [])
      .flatMap((row) => row?.[0] ?? [])
      .map(BigInt)
      .filter((tip) => tip > 0n)
      .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    return tips[tips.length >> 1] ?? 0n;
  }

  return async () => {
    const paid = await paidLately().catch(() => undefined);
    if (paid !== undefined && paid > 0n) return (last = paid);
    try {
      return (last = BigInt(await rpc.request<Hex>('eth_maxPriorityFeePerGas', [])));
    } catch (cause) {
      if (last !== undefined || paid !== undefined) return last ?? LEAST;
      throw new UpstreamError('The chain tells no tip, so no fee can be named. It will be asked again.', {
        code: 'no_tip',
        cause,
      });
    }
  };
}
