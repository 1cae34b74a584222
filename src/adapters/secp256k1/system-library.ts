/**
 * libsecp256k1 as the system has it, where it has: a later release of what npm carries prebuilt, which signs
 * in two thirds of the time.
 */

import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type { LibraryHandle } from 'koffi';
import { InvariantError } from '../../domain/errors.ts';
import type { Ecdsa } from './ecdsa.ts';

/**
 * Debian's names by release of the library, the latest first, then Homebrew's. What is called here has been
 * the same in all of them.
 */
const FILES: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: [6, 5, 2, 1].map((version) => `libsecp256k1.so.${version}`),
  darwin: ['/opt/homebrew', '/usr/local'].map((prefix) => `${prefix}/lib/libsecp256k1.dylib`),
};

// The library's own constants, of secp256k1.h.
const CONTEXT_SIGN_AND_VERIFY = 0x0301;
const UNCOMPRESSED = 2;
/** The sizes of its opaque values: a public key, and a signature that its signer can be recovered from. */
const PUBLIC_KEY_BYTES = 64;
const SIGNATURE_BYTES = 65;

/**
 * What RFC 6979 makes of the key 1 and a digest of bytes 1, and the public key of 1 (the generator): whoever
 * answers otherwise is not this library.
 */
const KNOWN = {
  key: Uint8Array.from({ length: 32 }, (_, at) => (at === 31 ? 1 : 0)),
  digest: new Uint8Array(32).fill(1),
  signature:
    '747a6c6bd9a8ff0b77a99b8f274f5df5198b5dddc33edd4bc89e459d13dfa6177431bfa016325b8f27491781d1c462999f1dde760560373a517d29161c2df139',
  recovery: 1,
  publicKey:
    '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8',
};

/** undefined where the system has none, or has something of that name that does not sign as it should. */
export function loadSystemLibrary(
  files: readonly string[] = FILES[process.platform] ?? [],
): Ecdsa | undefined {
  for (const file of files) {
    try {
      const { load } = createRequire(import.meta.url)('koffi') as typeof import('koffi');
      const ecdsa = bind(load(file));
      if (signsAsKnown(ecdsa)) return ecdsa;
    } catch {
      // Not this one: the next, or what npm carries.
    }
  }
  return undefined;
}

/**
 * Everything is checked for its length here: the library reads as many bytes as it expects, whatever it is
 * given.
 */
function bind(library: LibraryHandle): Ecdsa {
  type Call<Arguments extends unknown[]> = (...given: Arguments) => number;
  const sign = library.func(
    'int secp256k1_ecdsa_sign_recoverable(void*, uint8_t* signature, uint8_t* digest, uint8_t* key, void*, void*)',
  ) as Call<[unknown, Uint8Array, Uint8Array, Uint8Array, null, null]>;
  const writeSignature = library.func(
    'int secp256k1_ecdsa_recoverable_signature_serialize_compact(void*, uint8_t* out, int* recovery, uint8_t* signature)',
  ) as Call<[unknown, Uint8Array, Int32Array, Uint8Array]>;
  const readSignature = library.func(
    'int secp256k1_ecdsa_recoverable_signature_parse_compact(void*, uint8_t* signature, uint8_t* from, int recovery)',
  ) as Call<[unknown, Uint8Array, Uint8Array, number]>;
  const recover = library.func(
    'int secp256k1_ecdsa_recover(void*, uint8_t* publicKey, uint8_t* signature, uint8_t* digest)',
  ) as Call<[unknown, Uint8Array, Uint8Array, Uint8Array]>;
  const createPublicKey = library.func(
    'int secp256k1_ec_pubkey_create(void*, uint8_t* publicKey, uint8_t* key)',
  ) as Call<[unknown, Uint8Array, Uint8Array]>;
  const writePublicKey = library.func(
    'int secp256k1_ec_pubkey_serialize(void*, uint8_t* out, size_t* length, uint8_t* publicKey, uint32_t flags)',
  ) as Call<[unknown, Uint8Array, BigUint64Array, Uint8Array, number]>;
  const context = library.func('void* secp256k1_context_create(uint32_t flags)')(
    CONTEXT_SIGN_AND_VERIFY,
  ) as unknown;
  // Blinds what a neighbour on the machine could learn of a key from how long signing takes. Signatures stay
  // the same.
  const blinded = (
    library.func('int secp256k1_context_randomize(void*, uint8_t* seed)') as Call<[unknown, Uint8Array]>
  )(context, randomBytes(32));
  if (blinded !== 1) throw new InvariantError('libsecp256k1 could not be blinded.');

  const signature = new Uint8Array(SIGNATURE_BYTES);
  const publicKey = new Uint8Array(PUBLIC_KEY_BYTES);
  const compact = new Uint8Array(64);
  const recovery = new Int32Array(1);
  const length = new BigUint64Array(1);
  const uncompressed = () => {
    const written = new Uint8Array(65);
    length[0] = 65n;
    writePublicKey(context, written, length, publicKey, UNCOMPRESSED);
    return written.subarray(1);
  };
  return {
    name: 'libsecp256k1',
    sign: (digest, key) => {
      if (sign(context, signature, bytes(digest, 32), bytes(key, 32), null, null) !== 1)
        throw new InvariantError('libsecp256k1 cannot sign with these 32 bytes: they are no private key.');
      writeSignature(context, compact, recovery, signature);
      return { signature: compact, recovery: recovery[0] as number };
    },
    recover: (digest, from, id) => {
      // The library ends the process on an id outside of these.
      if (id !== 0 && id !== 1) return undefined;
      const read =
        readSignature(context, signature, bytes(from, 64), id) === 1 &&
        recover(context, publicKey, signature, bytes(digest, 32)) === 1;
      return read ? uncompressed() : undefined;
    },
    publicKey: (key) => {
      if (createPublicKey(context, publicKey, bytes(key, 32)) !== 1)
        throw new InvariantError('These 32 bytes are no private key.');
      return uncompressed();
    },
  };
}

function bytes(value: Uint8Array, length: number): Uint8Array {
  if (value.length !== length) throw new InvariantError(`Expected ${length} bytes and got ${value.length}.`);
  return value;
}

function signsAsKnown(ecdsa: Ecdsa): boolean {
  const { signature, recovery } = ecdsa.sign(KNOWN.digest, KNOWN.key);
  const hex = (value: Uint8Array | undefined) => value && Buffer.from(value).toString('hex');
  return (
    hex(signature) === KNOWN.signature &&
    recovery === KNOWN.recovery &&
    hex(ecdsa.recover(KNOWN.digest, signature, recovery)) === KNOWN.publicKey &&
    hex(ecdsa.publicKey(KNOWN.key)) === KNOWN.publicKey
  );
}
