/** Deploys LayerZero's OFTs with a played endpoint on development chains, and joins them. */

import { encodeFunctionData } from 'viem';
import { type Address, addressToBytes32 } from '../../src/domain/hex.ts';
import { devLzEndpointAbi } from './abi/dev-lz-endpoint.ts';
import { devOftAdapterAbi } from './abi/dev-oft-adapter.ts';
import { devOftAbi } from './abi/dev-oft.ts';
import { connectDev, type DevAccess } from '../../src/adapters/evm/deploy/deploy.ts';
import { creationCodeOf } from '../../src/adapters/evm/deploy/creation-code.ts';

export interface OftDeployment {
  eid: number;
  endpoint: Address;
  oft: Address;
  token: Address;
}

/**
 * Deploys an OFT. `token` null: the OFT is a token itself, of 18 decimals. `endpoint` null: a played one is
 * deployed.
 */
export async function deployOft({
  eid,
  endpoint: known,
  nativeFee,
  token,
  name,
  symbol,
  ...access
}: DevAccess & {
  eid: number;
  endpoint: Address | null;
  /** Wei for each message of the played endpoint. */
  nativeFee: bigint;
  token: Address | null;
  name: string;
  symbol: string;
}): Promise<OftDeployment> {
  const dev = await connectDev(access);
  const endpoint =
    known ??
    dev.create({
      abi: devLzEndpointAbi,
      bytecode: creationCodeOf('test/DevLzEndpoint'),
      args: [eid, nativeFee],
    });
  const oft =
    token === null
      ? dev.create({
          abi: devOftAbi,
          bytecode: creationCodeOf('test/DevOft'),
          args: [name, symbol, endpoint, dev.address],
        })
      : dev.create({
          abi: devOftAdapterAbi,
          bytecode: creationCodeOf('test/DevOftAdapter'),
          args: [token, endpoint, dev.address],
        });
  await dev.settled();
  return { eid, endpoint, oft, token: token ?? oft };
}

/** Tells an OFT the ones on the other chains. */
export async function linkOft({
  oft,
  remotes,
  ...access
}: DevAccess & { oft: Address; remotes: readonly OftDeployment[] }): Promise<void> {
  const dev = await connectDev(access);
  for (const remote of remotes)
    dev.send(
      oft,
      encodeFunctionData({
        abi: devOftAbi,
        functionName: 'setPeer',
        args: [remote.eid, addressToBytes32(remote.oft)],
      }),
    );
  await dev.settled();
}
