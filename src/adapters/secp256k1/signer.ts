/** A signer whose private key is in this process: decrypted from a keystore, or given for development. */

import { bytesToHex, type Address, type Bytes32, type Hex, hexToBytes } from '../../domain/hex.ts';
import { InvariantError, RequestError } from '../../domain/errors.ts';
import { keccakBytes } from '../../domain/keccak.ts';
import { writeHex } from '../../domain/word.ts';
import type { Signer } from '../../ports/signer.ts';
import { type Ecdsa, ecdsa as fastest } from './ecdsa.ts';

/** Signs at once: the hot path has no time for a promise. */
export interface LocalSigner extends Signer {
  sign(digest: Bytes32): Hex;
}

/** Throws `PrivateKeyError` when the 32 bytes are not a key. */
export function createSigner(privateKey: Hex, ecdsa: Ecdsa = fastest): LocalSigner {
  const key = hexToBytes(privateKey);
  const message = new Uint8Array(32);
  return {
    address: addressOf(key, ecdsa),
    sign(digest) {
      if (writeHex(message, 0, digest) !== message.length) throw new InvariantError('A digest has 32 bytes.');
      const { signature, recovery } = ecdsa.sign(message, key);
      return `${bytesToHex(signature)}${recovery === 0 ? '1b' : '1c'}`;
    },
  };
}

function addressOf(privateKey: Uint8Array, ecdsa: Ecdsa): Address {
  try {
    return publicKeyAddress(ecdsa.publicKey(privateKey));
  } catch (cause) {
    throw new PrivateKeyError(cause);
  }
}

/** Last 20 bytes of keccak256(x ‖ y). */
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
