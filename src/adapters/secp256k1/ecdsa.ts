/**
 * ECDSA over secp256k1: the native addon where it has a binary, else `@noble/curves`, twenty times slower.
 */

import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { secp256k1 as nobleCurve } from '@noble/curves/secp256k1.js';

export interface Ecdsa {
  readonly name: 'secp256k1' | '@noble/curves';
  /**
   * Returns r ‖ s with low s, and the recovery id 0 or 1, by RFC 6979. Throws when digest or key are invalid.
   */
  sign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recovery: number };
  recover(digest: Uint8Array, signature: Uint8Array, recovery: number): Uint8Array | undefined;
  publicKey(privateKey: Uint8Array): Uint8Array;
}

/** undefined where the addon has no binary. The package's index would silently fall back to a slow curve. */
export function loadAddon(): Ecdsa | undefined {
  let addon: typeof import('secp256k1');
  try {
    addon = createRequire(import.meta.url)('secp256k1/bindings') as typeof import('secp256k1');
  } catch {
    return undefined;
  }
  // Blinds the context against timing attacks. Signatures stay the same.
  addon.contextRandomize(randomBytes(32));
  return {
    name: 'secp256k1',
    sign(digest, privateKey) {
      const { signature, recid } = addon.ecdsaSign(digest, privateKey);
      return { signature, recovery: recid };
    },
    recover(digest, signature, recovery) {
      try {
        return addon.ecdsaRecover(signature, recovery, digest, false).subarray(1);
      } catch {
        return undefined;
      }
    },
    publicKey: (privateKey) => addon.publicKeyCreate(privateKey, false).subarray(1),
  };
}

export const noble: Ecdsa = {
  name: '@noble/curves',
  sign(digest, privateKey) {
    const recovered = nobleCurve.sign(digest, privateKey, {
      prehash: false,
      lowS: true,
      format: 'recovered',
    });
    return { signature: recovered.subarray(1), recovery: recovered[0] as number };
  },
  recover(digest, signature, recovery) {
    try {
      const recovered = Uint8Array.of(recovery, ...signature);
      const compressed = nobleCurve.recoverPublicKey(recovered, digest, { prehash: false });
      return nobleCurve.Point.fromBytes(compressed).toBytes(false).subarray(1);
    } catch {
      return undefined;
    }
  },
  publicKey: (privateKey) => nobleCurve.getPublicKey(privateKey, false).subarray(1),
};

export const ecdsa: Ecdsa = loadAddon() ?? noble;
