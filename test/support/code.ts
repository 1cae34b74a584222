/** Puts the code of one contract at the place of another, as a predeploy or a token of a real chain is. */

import type { Address, Hex } from '../../src/domain/hex.ts';
import { DEPLOYER, type TestChain } from './devnet.ts';

/**
 * Puts code at `place`. `deployData`: creation code and constructor arguments. Storage and balances of
 * `place` stay.
 */
export async function putCode({ anvil }: TestChain, place: Address, deployData: Hex): Promise<void> {
  const hash = await anvil.rpc<Hex>('eth_sendTransaction', [
    { from: DEPLOYER.address, data: deployData, gas: '0x2dc6c0' },
  ]);
  let deployed: { contractAddress: Hex } | null = null;
  while (deployed === null)
    deployed = await anvil.rpc<{ contractAddress: Hex } | null>('eth_getTransactionReceipt', [hash]);
  const code = await anvil.rpc<Hex>('eth_getCode', [deployed.contractAddress, 'latest']);
  await anvil.rpc('anvil_setCode', [place, code]);
}
