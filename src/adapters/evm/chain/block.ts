/** Blocks of JSON-RPC, and their parsed form. */

import { UpstreamError } from '../../../domain/errors.ts';
import type { Hex } from '../../../domain/hex.ts';
import type { Block } from '../../../ports/chain.ts';

export interface HeadBlock extends Block {
  baseFee: bigint;
  parentHash: Hex;
}

export interface RpcBlock {
  number: Hex;
  hash: Hex;
  parentHash: Hex;
  timestamp: Hex;
  baseFeePerGas?: Hex;
}

/** No chain reaches these; reading events up to such a block would never end. */
const MAX_NUMBER = 2n ** 48n;
const MAX_TIMESTAMP = 2 ** 40;

/** Throws `UpstreamError` for what no block can be. */
export function toBlock(answer: RpcBlock | null): HeadBlock {
  if (answer === null)
    throw new UpstreamError(
      'A node answered that it has no such block. It may be behind, or just starting.',
      { code: 'rpc_no_block' },
    );
  const { number, hash, parentHash, timestamp, baseFeePerGas } = answer;
  const block = {
    number: BigInt(number),
    hash,
    parentHash,
    timestamp: Number(timestamp),
    baseFee: BigInt(baseFeePerGas ?? '0x0'),
  };
  if (block.number < 0n || block.number > MAX_NUMBER || !(block.timestamp <= MAX_TIMESTAMP))
    throw new UpstreamError('A node returned a block whose number or time no chain has. It is ignored.', {
      code: 'rpc_absurd',
    });
  return block;
}
