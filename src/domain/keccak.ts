/** keccak-256, about 1 µs a hash: one WebAssembly instance, made once when this module loads. */

import { createKeccak } from 'hash-wasm';
import { hexToBytes, type Bytes32, type Hex } from './hex.ts';

// The only await on the two lowest floors: WebAssembly compiles asynchronously, once, before anything can call us.
const hasher = await createKeccak(256);

/** The digest as bytes; a fresh array, the caller may keep it. */
export function keccakBytes(data: Uint8Array): Uint8Array {
  return hasher.init().update(data).digest('binary');
}

export function keccak(data: Uint8Array): Bytes32 {
  return `0x${hasher.init().update(data).digest('hex')}`;
}

const utf8 = new TextEncoder();

/** Hash of ASCII text: type strings and event signatures. */
export function keccakText(text: string): Bytes32 {
  return keccak(utf8.encode(text));
}

export function keccakHex(hex: Hex): Bytes32 {
  return keccak(hexToBytes(hex));
}

/** EIP-712: keccak256(0x1901 ‖ domainSeparator ‖ structHash). */
export function typedDataDigest(domainSeparator: Uint8Array, structHash: Uint8Array): Bytes32 {
  MESSAGE.set(domainSeparator, 2);
  MESSAGE.set(structHash, 34);
  return keccak(MESSAGE);
}

/** Written anew for every digest: nothing here waits, so one is enough. */
const MESSAGE = new Uint8Array(66);
MESSAGE.set([0x19, 0x01]);
