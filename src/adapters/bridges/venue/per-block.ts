/** Reads a value once per block and shares it: equal requests for that block get equal answers. */

import type { Hex } from '../../../domain/hex.ts';
import type { Block, ChainPort } from '../../../ports/chain.ts';

/** Asks pin the newest block or one just before. */
const BLOCKS_KEPT = 8;

/** Resolves with undefined when the block is not on the chain any more. A failed reading is not kept. */
export function createPerBlock<T>(
  chain: Pick<ChainPort, 'block'>,
  read: (block: Block, key: string) => Promise<T>,
): (block: Block, key?: string) => Promise<T | undefined> {
  const blocks = new Map<Hex, Map<string, Promise<T | undefined>>>();

  async function readOn(block: Block, key: string): Promise<T | undefined> {
    const made = await read(block, key);
    // Nodes are asked by number.
    return (await chain.block(block.number))?.hash === block.hash ? made : undefined;
  }

  return (block, key = '') => {
    let known = blocks.get(block.hash);
    if (known === undefined) {
      blocks.set(block.hash, (known = new Map()));
      for (const oldest of [...blocks.keys()].slice(0, -BLOCKS_KEPT)) blocks.delete(oldest);
    }
    const before = known.get(key);
    if (before) return before;
    const reading = readOn(block, key);
    known.set(key, reading);
    reading.catch(() => known.delete(key));
    return reading;
  };
}
