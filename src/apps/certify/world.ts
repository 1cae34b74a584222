/** The chains on which a solver is certified, and what to ask it for. */

import { type RpcBlock, toBlock } from '../../adapters/evm/chain/block.ts';
import type { AssetId } from '../../domain/asset.ts';
import { parseAssetId } from '../../domain/asset.ts';
import type { Chain } from '../../domain/chain.ts';
import type { Address, Hex } from '../../domain/hex.ts';
import type { StandardOrder } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { ChainViews } from '../../ports/chain.ts';
import { badRequest } from '../wiring/bad-request.ts';
import { rpc } from '../demo/chains/anvil.ts';

export interface CertifiedChain {
  chain: Chain;
  rpcUrl: string;
  views: ChainViews;
}

export interface AskedPair {
  input: AssetId;
  output: AssetId;
}

export interface CertifyWorld {
  chains: readonly CertifiedChain[];
  /** The first on one chain is used most, then the first across chains. */
  pairs: readonly AskedPair[];
  /** Executes orders on chain. Absent on chains whose money is real. */
  taker?: CertifyTaker;
}

/** A taker with money in the ledger of each chain. */
export interface CertifyTaker {
  address: Address;
  /** Signs the order, and makes its funding out of the taker's ledger balance. */
  sign(order: StandardOrder): { signature: Hex; funding: Hex };
  /** Sends to the escrow of this chain. Resolves with whether the transaction succeeded. */
  send(chainId: number, data: Hex): Promise<{ succeeded: boolean; txHash: Hex; blockNumber: bigint }>;
}

export function chainIn({ chains }: Pick<CertifyWorld, 'chains'>, asset: AssetId): CertifiedChain {
  const chainId = parseAssetId(asset)?.chainId;
  const found = chains.find(({ chain }) => chain.id === chainId);
  if (found === undefined) throw badRequest(`${asset} is on none of the chains of this certification.`);
  return found;
}

export const tokenIn = (asset: AssetId): Address => {
  const token = parseAssetId(asset)?.token;
  if (token === undefined)
    throw badRequest(`${asset} is no asset: write eip155:<chain>/erc20:<token address>.`);
  return token;
};

export const isWithin = ({ input, output }: AskedPair): boolean =>
  parseAssetId(input)?.chainId === parseAssetId(output)?.chainId;

/** Reads the time of the newest block. */
export async function chainTime({ rpcUrl }: CertifiedChain): Promise<UnixSeconds> {
  return toBlock((await rpc(rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as RpcBlock | null).timestamp;
}

/** The account's ledger balance that may back quotes, as a venue reads it. */
export async function backing({ views }: CertifiedChain, account: Address, token: Address): Promise<bigint> {
  const [held, { amount: leaving }, deferred] = await Promise.all([
    views.ledgerBalance(account, token),
    views.pendingWithdrawal(account, token),
    views.ledgerDeferred(account, token),
  ]);
  const left = held - leaving - deferred;
  return left > 0n ? left : 0n;
}
