/** keccak-256, about 1 µs a hash: one WebAssembly instance, made once when this module loads. */

import { createKeccak } from 'hash-wasm';
import { hexToBytes, type Bytes32, type Hex } from './hex.ts';
import { unsetBytes } from './word.ts';

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
  const message = unsetBytes(66);
  message[0] = 0x19;
  message[1] = 0x01;
  message.set(domainSeparator, 2);
  message.set(structHash, 34);
  return keccak(message);
}
