/** The node that contracts are deployed through: asked only when something is wanted, nothing is followed. */

import { max } from '../../../domain/amount.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import type { ContractCall, Fees, RollupFees, SendOutcome, Simulation } from '../../../ports/chain.ts';
import { type RpcBlock, toBlock } from '../chain/block.ts';
import { createViewCaller, type ViewCaller } from '../chain/multicall.ts';
import { createRollupFees, type FeeModel } from '../chain/rollup-fees.ts';
import { simulateCall } from '../chain/simulate.ts';
import { createTips } from '../chain/tips.ts';
import { createRpc } from '../rpc/rpc.ts';
import { sendRaw } from '../transactor/send.ts';

/**
 * What a deployment needs of a node. Every method throws `UpstreamError` when no endpoint answers, and reads
 * at block `at`.
 */
export interface DeployNode {
  chainId(): Promise<number>;
  headNumber(): Promise<bigint>;
  code(address: Address, at: bigint): Promise<Hex>;
  /** Counts an account's mined transactions; a contract has 1 and more from its block on. */
  nonce(address: Address, at: bigint): Promise<number>;
  /** Reads a balance, wei. */
  balance(address: Address, at: bigint): Promise<bigint>;
  /** undefined when the call reverts. */
  read: ViewCaller;
  fees(): Promise<Fees>;
  rollupFees(): Promise<RollupFees>;
  simulate(transaction: ContractCall, at: bigint): Promise<Simulation>;
  send(raw: Hex): Promise<SendOutcome>;
  /** undefined until it is mined. */
  receipt(hash: Hex): Promise<{ block: bigint; reverted: boolean } | undefined>;
  close(): void;
}

interface DeployNodeOptions {
  timeoutMs: number;
  feeModel: FeeModel;
  /** Wei per gas; the chain's base fee never falls below it. */
  minBaseFee: bigint;
}

export function createDeployNode(
  rpcUrls: readonly string[],
  { timeoutMs, feeModel, minBaseFee }: DeployNodeOptions,
): DeployNode {
  const rpc = createRpc(rpcUrls, { timeoutMs });
  const read = createViewCaller(rpc);
  const tip = createTips(rpc);
  const tag = (at: bigint): Hex => `0x${at.toString(16)}`;
  const latest = async () => toBlock(await rpc.request<RpcBlock>('eth_getBlockByNumber', ['latest', false]));
  const oracleHasCode = async (address: Address) =>
    (await rpc.request<Hex>('eth_getCode', [address, 'latest'])) !== '0x';

  return {
    chainId: async () => Number(await rpc.request<Hex>('eth_chainId', [])),
    headNumber: async () => (await latest()).number,
    code: async (address, at) =>
      (await rpc.request<Hex>('eth_getCode', [address, tag(at)])).toLowerCase() as Hex,
    nonce: async (address, at) =>
      Number(await rpc.request<Hex>('eth_getTransactionCount', [address, tag(at)])),
    balance: async (address, at) => BigInt(await rpc.request<Hex>('eth_getBalance', [address, tag(at)])),
    read,
    async fees() {
      const [{ baseFee }, priorityFee] = await Promise.all([latest(), tip()]);
      return { baseFee: max(baseFee, minBaseFee), priorityFee };
    },
    rollupFees: createRollupFees(read, oracleHasCode, feeModel),
    simulate: (transaction, at) => simulateCall(rpc, transaction, at),
    send: (raw) => sendRaw(rpc, raw),
    async receipt(hash) {
      const found = await rpc.request<{ blockNumber: Hex | null; status: Hex } | null>(
        'eth_getTransactionReceipt',
        [hash],
      );
      if (!found?.blockNumber) return undefined;
      return { block: BigInt(found.blockNumber), reverted: found.status !== '0x1' };
    },
    close: () => rpc.close(),
  };
}
