/** Runs a transaction without sending it: the gas that it takes, or why the chain refuses it. */

import type { Hex } from '../../../domain/hex.ts';
import type { ContractCall, Simulation } from '../../../ports/chain.ts';
import { decodeRevert } from '../../../settlement/revert.ts';
import { type ChainRpc, RpcRefusal } from '../rpc/rpc.ts';
import { isRevert, revertData } from './multicall.ts';

/** Simulates at the latest block, or at block `at`. Throws `UpstreamError` when no node answers. */
export async function simulateCall(
  rpc: Pick<ChainRpc, 'request'>,
  { from, to, data, value, gas }: ContractCall,
  at?: bigint,
): Promise<Simulation> {
  try {
    const used = await rpc.request<Hex>('eth_estimateGas', [
      {
        ...{ from, to, data },
        ...(value !== undefined && { value: `0x${value.toString(16)}` }),
        ...(gas !== undefined && { gas: `0x${gas.toString(16)}` }),
      },
      at === undefined ? 'latest' : `0x${at.toString(16)}`,
    ]);
    return { ok: true, gasUsed: BigInt(used) };
  } catch (error) {
    if (!(error instanceof RpcRefusal) || !isRevert(error)) throw error;
    const returned = revertData(error);
    return { ok: false, reason: decodeRevert(returned).text, data: returned };
  }
}
