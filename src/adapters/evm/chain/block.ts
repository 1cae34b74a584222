/** Blocks of JSON-RPC, and their parsed form. */

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

export const toBlock = ({ number, hash, parentHash, timestamp, baseFeePerGas }: RpcBlock): HeadBlock => ({
  number: BigInt(number),
  hash,
  parentHash,
  timestamp: Number(timestamp),
  baseFee: BigInt(baseFeePerGas ?? '0x0'),
});
