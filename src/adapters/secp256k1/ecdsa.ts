/**
 * ECDSA over secp256k1 by the fastest library that this machine has: the system's, else the one npm carries
 * prebuilt, else portable code twenty times slower. Same answers.
 */

import { createRequire } from 'node:module';
import { secp256k1 as portableCurve } from '@noble/curves/secp256k1.js';
import { loadSystemLibrary } from './system-library.ts';

export interface Ecdsa {
  /** Which library does it, for the log: the system's, the one npm carries, the portable one. */
  readonly name: 'libsecp256k1' | 'secp256k1' | '@noble/curves';
  /**
   * r ‖ s with low s, and the recovery id 0 or 1. The nonce is RFC 6979's. The bytes are the caller's until
   * it signs again.
   */
  sign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recovery: number };
  /** The 64-byte public key (x ‖ y), or undefined when there is none. */
  recover(digest: Uint8Array, signature: Uint8Array, recovery: number): Uint8Array | undefined;
  /** The 64-byte public key of a private key; throws on an invalid one. */
  publicKey(privateKey: Uint8Array): Uint8Array;
}

interface Bindings {
  ecdsaSign(
    message: Uint8Array,
    privateKey: Uint8Array,
    options: object,
    output: Uint8Array,
  ): { signature: Uint8Array; recid: number };
  ecdsaRecover(signature: Uint8Array, recid: number, message: Uint8Array, compressed: boolean): Uint8Array;
  publicKeyCreate(privateKey: Uint8Array, compressed: boolean): Uint8Array;
}

const DEFAULTS = {};

/**
 * undefined where the package has no prebuilt binary. Its own index would fall back to a slow curve without a
 * word, so we ask for the binding itself.
 */
export function loadPrebuilt(): Ecdsa | undefined {
  let bindings: Bindings;
  try {
    bindings = createRequire(import.meta.url)('secp256k1/bindings') as Bindings;
  } catch {
    return undefined;
  }
  const output = new Uint8Array(64);
  return {
    name: 'secp256k1',
    sign: (digest, privateKey) => {
      const { signature, recid } = bindings.ecdsaSign(digest, privateKey, DEFAULTS, output);
      return { signature, recovery: recid };
    },
    recover: (digest, signature, recovery) => {
      try {
        return bindings.ecdsaRecover(signature, recovery, digest, false).subarray(1);
      } catch {
        return undefined;
      }
    },
    publicKey: (privateKey) => bindings.publicKeyCreate(privateKey, false).subarray(1),
  };
}

export const portable: Ecdsa = {
  name: '@noble/curves',
  sign: (digest, privateKey) => {
    const recovered = portableCurve.sign(digest, privateKey, {
      prehash: false,
      lowS: true,
      format: 'recovered',
    });
    return { signature: recovered.subarray(1), recovery: recovered[0] as number };
  },
  recover: (digest, signature, recovery) => {
    try {
      const recovered = new Uint8Array(65);
      recovered[0] = recovery;
      recovered.set(signature, 1);
      const compressed = portableCurve.recoverPublicKey(recovered, digest, { prehash: false });
      return portableCurve.Point.fromBytes(compressed).toBytes(false).subarray(1);
    } catch {
      return undefined;
    }
  },
  publicKey: (privateKey) => portableCurve.getPublicKey(privateKey, false).subarray(1),
};

/** The fastest that runs here. */
export const ecdsa: Ecdsa = loadSystemLibrary() ?? loadPrebuilt() ?? portable;
