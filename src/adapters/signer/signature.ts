/** Reads public keys and signatures in the encodings of key services. */

import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { KeyServiceFailure } from './key-service.ts';

/** Reads r ‖ s of a DER signature (ASN.1 `ECDSA-Sig-Value`); s may be high. */
export function readDer(der: Uint8Array): Uint8Array {
  try {
    return secp256k1.Signature.fromBytes(der, 'der').toBytes('compact');
  } catch (cause) {
    throw new KeyServiceFailure('malformed', 'the signature is not in DER', { cause });
  }
}

/** Reads x ‖ y of a public key in SPKI, DER or PEM. */
export function readPublicKey(spki: Uint8Array | string): Uint8Array {
  let jwk: JsonWebKey;
  try {
    const key =
      typeof spki === 'string' ? spki : ({ key: Buffer.from(spki), format: 'der', type: 'spki' } as const);
    jwk = createPublicKey(key).export({ format: 'jwk' });
  } catch (cause) {
    throw new KeyServiceFailure('malformed', 'the public key cannot be read', { cause });
  }
  if (jwk.crv !== 'secp256k1' || jwk.x === undefined || jwk.y === undefined)
    throw new KeyServiceFailure(
      'no_key',
      `the key is ${jwk.crv ?? jwk.kty ?? 'of another kind'}, not secp256k1`,
    );
  return Buffer.concat([Buffer.from(jwk.x, 'base64url'), Buffer.from(jwk.y, 'base64url')]);
}
