/** Deploys stand-ins for the contracts of Circle's CCTP V2 on development chains, and joins them. */

import { encodeFunctionData } from 'viem';
import { type Address, addressToBytes32 } from '../../src/domain/hex.ts';
import { devCctpMessengerAbi } from './abi/dev-cctp-messenger.ts';
import { devCctpTransmitterAbi } from './abi/dev-cctp-transmitter.ts';
import { connectDev, type DevAccess } from '../../src/adapters/evm/deploy/deploy.ts';
import { creationCodeOf } from '../../src/adapters/evm/deploy/creation-code.ts';

export interface CctpDeployment {
  domain: number;
  token: Address;
  messenger: Address;
  transmitter: Address;
}

/** The most that Circle allows in one burn, base units of USDC. */
const BURN_LIMIT = 10_000_000_000_000n;

export async function deployCctp({
  domain,
  token,
  attesters,
  threshold,
  feeRecipient,
  ...access
}: DevAccess & {
  domain: number;
  token: Address;
  attesters: readonly Address[];
  threshold: number;
  feeRecipient: Address;
}): Promise<CctpDeployment> {
  const dev = await connectDev(access);
  const transmitter = dev.create({
    abi: devCctpTransmitterAbi,
    bytecode: creationCodeOf('test/DevCctpTransmitter'),
    args: [domain, attesters, BigInt(threshold)],
  });
  const messenger = dev.create({
    abi: devCctpMessengerAbi,
    bytecode: creationCodeOf('test/DevCctpMessenger'),
    args: [transmitter, token, BURN_LIMIT, feeRecipient],
  });
  await dev.settled();
  return { domain, token, messenger, transmitter };
}

/** Tells a messenger the ones on the other chains. */
export async function linkCctp({
  messenger,
  remotes,
  ...access
}: DevAccess & { messenger: Address; remotes: readonly CctpDeployment[] }): Promise<void> {
  const dev = await connectDev(access);
  for (const remote of remotes)
    dev.send(
      messenger,
      encodeFunctionData({
        abi: devCctpMessengerAbi,
        functionName: 'setRemote',
        args: [remote.domain, addressToBytes32(remote.messenger), addressToBytes32(remote.token)],
      }),
    );
  await dev.settled();
}
