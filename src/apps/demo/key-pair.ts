/** Makes random keys, new for every demo. */

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
