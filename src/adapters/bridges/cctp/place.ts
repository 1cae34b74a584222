/** CCTP's contracts on each chain, compared with what they say of themselves: a wrong address loses money. */

import { type Address, addressToBytes32 } from '../../../domain/hex.ts';
import { readContract, tryReadContract } from '../../evm/chain/read-contract.ts';
import type { BridgePlace } from '../message-bridge.ts';
import { messageTransmitterAbi, tokenMessengerAbi, tokenMinterAbi } from './contracts.ts';

export interface CctpPlace extends BridgePlace {
  domain: number;
  messenger: Address;
  transmitter: Address;
  /** The usual time until a burn here is attested. `fast` null: Circle offers no fast transfers from here. */
  seconds: { fast: number | null; standard: number };
}

export interface CctpOptions {
  places: readonly CctpPlace[];
  /** Fast transfers where they are offered for at most `maxFeeBps`, else standard ones. */
  fast: boolean;
  maxFeeBps: number;
}

/** Describes what is wrong; empty when transfers can go to and come from all the others. */
export async function cctpProblems(place: CctpPlace, others: readonly CctpPlace[]): Promise<string[]> {
  const { chain, domain, messenger, transmitter } = place;
  const messengerSays = { abi: tokenMessengerAbi, address: messenger };
  const transmitterSays = { abi: messageTransmitterAbi, address: transmitter };
  const [localDomain, version, itsTransmitter, bodyVersion, limit, ...remotes] = await Promise.all([
    tryReadContract(chain.read, { ...transmitterSays, functionName: 'localDomain' }),
    tryReadContract(chain.read, { ...transmitterSays, functionName: 'version' }),
    tryReadContract(chain.read, { ...messengerSays, functionName: 'localMessageTransmitter' }),
    tryReadContract(chain.read, { ...messengerSays, functionName: 'messageBodyVersion' }),
    burnLimit(place).catch(() => 0n),
    ...others.map((other) =>
      tryReadContract(chain.read, {
        ...messengerSays,
        functionName: 'remoteTokenMessengers',
        args: [other.domain],
      }),
    ),
  ]);
  const wrongRemotes = others.filter((other, at) => remotes[at] !== addressToBytes32(other.messenger));
  return [
    localDomain !== domain && `the transmitter is of domain ${localDomain ?? 'none'}, not ${domain}`,
    version !== 1 && `the transmitter writes messages of version ${version ?? 'none'}, not 1`,
    itsTransmitter?.toLowerCase() !== transmitter &&
      `the messenger sends by the transmitter ${itsTransmitter ?? 'none'}, not ${transmitter}`,
    bodyVersion !== 1 && `the messenger writes bodies of version ${bodyVersion ?? 'none'}, not 1`,
    limit === 0n && `the messenger burns no token at ${place.token}`,
    ...wrongRemotes.map(
      (other) => `the messenger does not know ${other.messenger} on ${other.chain.chain.slug}`,
    ),
  ].filter((problem) => problem !== false);
}

/** Reads how many base units one burn may carry; 0n: the token is not burned there. */
export async function burnLimit({ chain, messenger, token }: CctpPlace): Promise<bigint> {
  const minter = await readContract(chain.read, {
    abi: tokenMessengerAbi,
    address: messenger,
    functionName: 'localMinter',
  });
  return readContract(chain.read, {
    abi: tokenMinterAbi,
    address: minter,
    functionName: 'burnLimitsPerMessage',
    args: [token],
  });
}
