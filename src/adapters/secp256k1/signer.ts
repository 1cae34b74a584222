/** A signer whose private key is in this process. */

import { RequestError } from '../../domain/errors.ts';
import { type Address, bytesToHex, type Hex, hexToBytes } from '../../domain/hex.ts';
import { keccakBytes } from '../../domain/keccak.ts';
import type { Signer } from '../../ports/signer.ts';
import { type Ecdsa, ecdsa as fastest } from './ecdsa.ts';

/** Throws `PrivateKeyError`. */
export function createSigner(privateKey: Hex, ecdsa: Ecdsa = fastest): Signer {
  let key: Uint8Array;
  let address: Address;
  try {
    key = hexToBytes(privateKey);
    address = publicKeyAddress(ecdsa.publicKey(key));
  } catch (cause) {
    throw new PrivateKeyError(cause);
  }
  return {
    address,
    async sign(message) {
      const { signature, recovery } = ecdsa.sign(keccakBytes(message), key);
      return `${bytesToHex(signature)}${recovery === 0 ? '1b' : '1c'}`;
    },
  };
}

/** Computes the last 20 bytes of keccak256(x ‖ y). */
export function publicKeyAddress(publicKey: Uint8Array): Address {
  return bytesToHex(keccakBytes(publicKey).subarray(12));
}

export class PrivateKeyError extends RequestError {
  constructor(cause: unknown) {
    super('This is not a private key: it must be 32 bytes, not zero and below the curve order.', {
      code: 'invalid_private_key',
      cause,
    });
  }
}
