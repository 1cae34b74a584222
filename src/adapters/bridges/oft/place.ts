/** An OFT and its chains, and whether each confirms its configuration: wrong addresses lose money. */

import { type Address, addressToBytes32 } from '../../../domain/hex.ts';
import { tryReadContract } from '../../evm/chain/read-contract.ts';
import type { BridgePlace, Ends } from '../message-bridge.ts';
import { lzEndpointAbi, oftAbi } from './contracts.ts';

export interface OftOptions {
  /** The asset's name, such as `USDT0`; the bridge's id is made from it. */
  asset: string;
  places: readonly OftPlace[];
  /** Decimals of the amounts in messages: the OFT has the same on every chain. */
  sharedDecimals: number;
  /** Basis points of the amount that the OFT may take as a fee. */
  maxFeeBps: number;
  /** How long after `seconds` the executor may still deliver before another address does. */
  patienceSeconds: number;
}

export interface OftPlace extends BridgePlace {
  /** LayerZero's number of the chain. */
  eid: number;
  endpoint: Address;
  /** The OFT, or the adapter that locks `token`. */
  oft: Address;
  /** Decimals of the token on this chain. */
  decimals: number;
  /** The usual time from a send here until LayerZero's executor has delivered. */
  seconds: number;
  /** Wei that one send from here may cost beside its gas. */
  maxNativeFee: bigint;
}

/** Base units of the token that are one unit of the OFT's messages: the smallest amount that travels. */
export const messageUnit = ({ decimals }: OftPlace, sharedDecimals: number): bigint =>
  10n ** BigInt(decimals - sharedDecimals);

/** Converts an amount of the source token to the destination token, rounded down. */
export const toDestination = (
  amount: bigint,
  { source, destination }: Ends<OftPlace>,
  sharedDecimals: number,
): bigint => (amount / messageUnit(source, sharedDecimals)) * messageUnit(destination, sharedDecimals);

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
