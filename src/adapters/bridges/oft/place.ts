/** An OFT on one chain, and whether the chain confirms its configuration: wrong addresses lose money. */

import { type Address, addressToBytes32 } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import { tryReadContract } from '../../evm/chain/read-contract.ts';
import { lzEndpointAbi, oftAbi } from './contracts.ts';

export interface OftPlace {
  chain: ChainPort;
  /** LayerZero's number of the chain. */
  eid: number;
  endpoint: Address;
  /** The OFT, or the adapter that locks `token`. */
  oft: Address;
  token: Address;
  /** Decimals of the token on this chain. */
  decimals: number;
  /** The usual time from a send here until LayerZero's executor has delivered. */
  seconds: number;
  /** Wei that one send from here may cost beside its gas. */
  maxNativeFee: bigint;
}

/** Describes what is wrong; empty when transfers can go to and come from all the others. */
export async function oftProblems(
  { chain, eid, endpoint, oft, token, decimals }: OftPlace,
  others: readonly OftPlace[],
  sharedDecimals: number,
): Promise<string[]> {
  const says = { abi: oftAbi, address: oft } as const;
  const [itsToken, itsEndpoint, itsShared, itsEid, itsDecimals, ...peers] = await Promise.all([
    tryReadContract(chain.read, { ...says, functionName: 'token' }),
    tryReadContract(chain.read, { ...says, functionName: 'endpoint' }),
    tryReadContract(chain.read, { ...says, functionName: 'sharedDecimals' }),
    tryReadContract(chain.read, { abi: lzEndpointAbi, address: endpoint, functionName: 'eid' }),
    tryReadContract(chain.read, { abi: oftAbi, address: token, functionName: 'decimals' }),
    ...others.map((other) =>
      tryReadContract(chain.read, { ...says, functionName: 'peers', args: [other.eid] }),
    ),
  ]);
  const strangers = others.filter((other, at) => peers[at] !== addressToBytes32(other.oft));
  return [
    itsToken?.toLowerCase() !== token && `the OFT is of the token ${itsToken ?? 'none'}, not ${token}`,
    itsEndpoint?.toLowerCase() !== endpoint &&
      `the OFT sends by the endpoint ${itsEndpoint ?? 'none'}, not ${endpoint}`,
    itsShared !== sharedDecimals &&
      `the OFT's messages have ${itsShared ?? 'no'} decimals, not ${sharedDecimals}`,
    itsEid !== eid && `the endpoint is of eid ${itsEid ?? 'none'}, not ${eid}`,
    itsDecimals !== decimals && `the token has ${itsDecimals ?? 'no'} decimals, not ${decimals}`,
    ...strangers.map((other) => `the OFT does not know ${other.oft} on ${other.chain.chain.slug}`),
  ].filter((problem) => problem !== false);
}
