/**
 * Sizes the block range of one request for logs. Providers allow 5 to 10,000 by plan, or as many as have few
 * enough results. A refusal names a range, or the range is halved; what fitted is kept for later requests.
 */

import { RpcRefusal } from '../rpc/rpc.ts';

/** Stays within the limits of most public nodes. */
const MOST_BLOCKS = 2_000n;

export interface LogRange {
  /** The last block of a request that begins at `from` and wants to reach `to`. */
  endOf(from: bigint, to: bigint): bigint;
  /** The first block of a request that ends at `to`. */
  startOf(to: bigint): bigint;
  /** Narrows the range; returns true when a smaller request may succeed where this one failed. */
  shrink(from: bigint, to: bigint, error: unknown): boolean;
}

export function createLogRange(most: bigint = MOST_BLOCKS): LogRange {
  let blocks = most;
  return {
    endOf: (from: bigint, to: bigint): bigint => (from + blocks - 1n < to ? from + blocks - 1n : to),
    startOf: (to: bigint): bigint => (to >= blocks ? to - blocks + 1n : 0n),
    shrink(from: bigint, to: bigint, error: unknown): boolean {
      const asked = to - from + 1n;
      if (!(error instanceof RpcRefusal) || error.meaning !== 'smaller') return false;
      if (asked === 1n) {
        // One block cannot be too many: the node refuses for another reason, and the range is as it was.
        blocks = most;
        return false;
      }
      const named = namedBlocks(error.words, from);
      const next = named !== undefined && named < asked ? named : asked / 2n;
      if (next < blocks) blocks = next;
      return true;
    },
  };
}

/** "this block range should work: [0x10, 0x203]", "retry with the range 16-515". */
function namedBlocks(words: string, from: bigint): bigint | undefined {
  const match = /(0x[0-9a-f]{1,16}|\d{1,20})\s*(?:,|-|to)\s*(0x[0-9a-f]{1,16}|\d{1,20})/i.exec(words);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  const [first, last] = [BigInt(match[1]), BigInt(match[2])];
  return first === from && last >= first ? last - first + 1n : undefined;
}
