/**
 * Fresh keys for everybody in the demo. They are drawn anew for each demo and are worth nothing anywhere
 * else.
 */

import { createSigner } from '../../adapters/secp256k1/signer.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import type { Address, Hex } from '../../domain/hex.ts';

export interface KeyPair {
  address: Address;
  privateKey: Hex;
}

export function drawKeyPair(): KeyPair {
  const privateKey = systemRandom.bytes32();
  return { address: createSigner(privateKey).address, privateKey };
}
