/** Reads a chain through the caller's own node. */

import { ETHER } from '../../domain/chain.ts';
import { decodeFunctionResult, encodeFunctionData, erc20Abi } from 'viem';
import { createViewCaller } from '../../adapters/evm/chain/multicall.ts';
import { createRpc } from '../../adapters/evm/rpc/rpc.ts';
import { createViews } from '../../adapters/evm/chain/views.ts';
import { UpstreamError } from '../../domain/errors.ts';
import { type Address, type Hex, ZERO_ADDRESS } from '../../domain/hex.ts';
import { keccakText } from '../../domain/keccak.ts';
import type { ChainViews } from '../../ports/chain.ts';
import { decodeLog, type EscrowEvent } from '../../settlement/log.ts';

export interface TransactionEvidence {
  succeeded: boolean;
  blockNumber: bigint;
  blockHash: Hex;
  /** Unix seconds. */
  at: number;
  gasUsed: bigint;
  from: Address;
  to: Address | null;
  input: Hex;
  events(contract: Address): EscrowEvent[];
  transfers(token: Address): { from: Address; to: Address; value: bigint }[];
}

export interface Witness {
  readonly views: ChainViews;
  /** Reads a transaction; undefined: there is none on this chain, or not yet. */
  transaction(hash: Hex): Promise<TransactionEvidence | undefined>;
  /** Reads as of a block, or of the newest one when the node has pruned that state. */
  asOf<T>(
    at: bigint | undefined,
    ask: (at: bigint | undefined) => Promise<T>,
  ): Promise<{ value: T; newest: boolean }>;
  /** Reads how amounts of this token are shown, from its own contract. */
  unit(token: Address): Promise<{ decimals: number | null; symbol: string }>;
  close(): void;
}

/** A token says anything as its symbol: this keeps it short, and free of control characters. */
const SYMBOL = /^[\x21-\x7e]{1,16}$/;

interface RpcLog {
  address: Hex;
  topics: Hex[];
  data: Hex;
  logIndex: Hex;
}

const TRANSFER = keccakText('Transfer(address,address,uint256)');

/** Throws `UpstreamError` when the node is on another chain. */
export async function openWitness(chainId: number, rpcUrl: string, escrow: Address): Promise<Witness> {
  const rpc = createRpc([rpcUrl], { timeoutMs: 20_000 });
  const id = Number(await rpc.request<Hex>('eth_chainId', []));
  if (id !== chainId) {
    rpc.close();
    throw new UpstreamError(`The node given for chain ${chainId} is on chain ${id}.`, {
      code: 'wrong_chain',
      retry: 'never',
    });
  }
  const chain = {
    id: chainId,
    slug: String(chainId),
    sandbox: false,
    escrow,
    oracle: ZERO_ADDRESS,
    permit2: ZERO_ADDRESS,
    depth: 0,
    blockTimeMs: 1,
    native: ETHER,
    landingMarginSeconds: 0,
    proofWindowSeconds: 0,
    tokens: [],
  };
  const views = createViews(chain, rpc, createViewCaller(rpc));
  const units = new Map<Address, { decimals: number | null; symbol: string }>();

  async function readUnit(token: Address): Promise<{ decimals: number | null; symbol: string }> {
    try {
      const [decimals, symbol] = await Promise.all([
        views.read(token, encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' })),
        views.read(token, encodeFunctionData({ abi: erc20Abi, functionName: 'symbol' })),
      ]);
      const name = decodeFunctionResult({ abi: erc20Abi, functionName: 'symbol', data: symbol ?? '0x' });
      return {
        decimals: decodeFunctionResult({ abi: erc20Abi, functionName: 'decimals', data: decimals ?? '0x' }),
        symbol: SYMBOL.test(name) ? name : token,
      };
    } catch {
      return { decimals: null, symbol: token };
    }
  }

  return {
    views,
    async unit(token) {
      const unit = units.get(token) ?? (await readUnit(token));
      units.set(token, unit);
      return unit;
    },
    async transaction(hash) {
      const [receipt, tx] = await Promise.all([
        rpc.request<{ status: Hex; blockNumber: Hex; blockHash: Hex; gasUsed: Hex; logs: RpcLog[] } | null>(
          'eth_getTransactionReceipt',
          [hash],
        ),
        rpc.request<{ from: Hex; to: Hex | null; input: Hex } | null>('eth_getTransactionByHash', [hash]),
      ]);
      if (!receipt?.blockHash || !tx) return undefined;
      const block = await rpc.request<{ hash: Hex; timestamp: Hex } | null>('eth_getBlockByNumber', [
        receipt.blockNumber,
        false,
      ]);
      // The receipt's block is not canonical.
      if (block?.hash !== receipt.blockHash) return undefined;
      const place = { blockNumber: BigInt(receipt.blockNumber), blockHash: receipt.blockHash, txHash: hash };
      const of = (contract: Address) =>
        receipt.logs.filter(({ address }) => address.toLowerCase() === contract);
      return {
        ...place,
        succeeded: receipt.status === '0x1',
        at: Number(block.timestamp),
        gasUsed: BigInt(receipt.gasUsed),
        from: tx.from.toLowerCase() as Address,
        to: tx.to === null ? null : (tx.to.toLowerCase() as Address),
        input: tx.input,
        events: (contract) =>
          of(contract).flatMap(
            ({ topics, data, logIndex }) =>
              decodeLog({ ...place, logIndex: Number(logIndex), topics, data }) ?? [],
          ),
        transfers: (token) =>
          of(token).flatMap(({ topics: [topic, from, to], data }) =>
            topic === TRANSFER && from && to && data.length === 66
              ? [
                  {
                    from: `0x${from.slice(26)}` as Address,
                    to: `0x${to.slice(26)}` as Address,
                    value: BigInt(data),
                  },
                ]
              : [],
          ),
      };
    },
    async asOf(at, ask) {
      if (at === undefined) return { value: await ask(undefined), newest: true };
      try {
        return { value: await ask(at), newest: false };
      } catch {
        return { value: await ask(undefined), newest: true };
      }
    },
    close: () => rpc.close(),
  };
}
