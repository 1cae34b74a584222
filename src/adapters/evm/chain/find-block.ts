/** Finds blocks and receipts, at other endpoints too when the first one does not have them. */

import type { Address, Hex } from '../../../domain/hex.ts';
import type { Receipt } from '../../../ports/chain.ts';
import type { Health } from '../rpc/health.ts';
import type { ChainRpc } from '../rpc/rpc.ts';
import { type HeadBlock, type RpcBlock, toBlock } from './block.ts';

export interface BlockDeps {
  rpc: ChainRpc;
  health: Health;
}

interface RpcReceipt {
  transactionHash: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  status: Hex;
  gasUsed: Hex;
  effectiveGasPrice: Hex;
  l1Fee?: Hex;
  operatorFeeScalar?: Hex;
  operatorFeeConstant?: Hex;
  logs: { address: Hex; topics: Hex[]; data: Hex }[];
}

export const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`;

export async function blockAt(deps: BlockDeps, number: bigint): Promise<HeadBlock | undefined> {
  const found = await askUntilFound<RpcBlock>(deps.rpc, deps.health, 'eth_getBlockByNumber', [
    quantity(number),
    false,
  ]);
  return found === null ? undefined : toBlock(found);
}

export async function receiptOfHash(
  deps: BlockDeps,
  hash: Hex,
  emitter: Address | undefined,
): Promise<Receipt | undefined> {
  const found = await askUntilFound<RpcReceipt>(deps.rpc, deps.health, 'eth_getTransactionReceipt', [hash]);
  if (!found?.blockHash) return undefined;
  return {
    txHash: found.transactionHash,
    blockNumber: BigInt(found.blockNumber),
    blockHash: found.blockHash,
    status: found.status === '0x1' ? 'success' : 'reverted',
    gasUsed: BigInt(found.gasUsed),
    effectiveGasPrice: BigInt(found.effectiveGasPrice),
    rollupFee: rollupFeeOf(found),
    ...(emitter && { logs: found.logs.filter(({ address }) => address.toLowerCase() === emitter) }),
  };
}

/** A part per million of the gas, and a constant (Isthmus). */
const OPERATOR_FEE_UNIT = 1_000_000n;

function rollupFeeOf({
  gasUsed,
  l1Fee = '0x0',
  operatorFeeScalar = '0x0',
  operatorFeeConstant = '0x0',
}: RpcReceipt): bigint {
  const operatorFee =
    (BigInt(gasUsed) * BigInt(operatorFeeScalar)) / OPERATOR_FEE_UNIT + BigInt(operatorFeeConstant);
  return BigInt(l1Fee) + operatorFee;
}

/** Asks the other endpoints too when the first one has no such block or receipt. */
async function askUntilFound<T>(
  rpc: ChainRpc,
  health: Health,
  method: string,
  params: readonly unknown[],
): Promise<T | null> {
  const first = await rpc.request<T | null>(method, params);
  if (first !== null || rpc.endpoints === 1) return first;
  const others = await Promise.all(
    health
      .order()
      .slice(1)
      .map((index) =>
        rpc
          .only(index)
          .request<T | null>(method, params)
          .catch(() => null),
      ),
  );
  return others.find((other) => other !== null) ?? null;
}
