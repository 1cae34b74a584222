/** keccak-256, the hash of every id, digest and address. */

import { createKeccak } from 'hash-wasm';
import { type AbiWord, AbiWriter } from './abi.ts';
import { bytesToHex, hexToBytes, type Bytes32, type Hex } from './hex.ts';

// hash-wasm compiles WebAssembly, which only has an asynchronous API. Hashing itself is synchronous.
const hasher = await createKeccak(256);

/** Returns the digest as bytes. */
export function keccakBytes(data: Uint8Array): Uint8Array {
  return hasher.init().update(data).digest('binary');
}

export function keccak(data: Uint8Array): Bytes32 {
  return bytesToHex(keccakBytes(data));
}

const utf8 = new TextEncoder();

/** Hashes UTF-8 text: type strings and event signatures. */
export function keccakText(text: string): Bytes32 {
  return keccak(utf8.encode(text));
}

export function keccakHex(hex: Hex): Bytes32 {
  return keccak(hexToBytes(hex));
}

/** Returns the message whose hash a signer of EIP-712 data signs: 0x1901 ‖ domainSeparator ‖ structHash. */
export function typedDataMessage(domainSeparator: Bytes32, structHash: AbiWord): Uint8Array {
  return new AbiWriter(66).raw('0x1901').word(domainSeparator).word(structHash).bytes;
}

/** EIP-712 digest. */
export function typedDataDigest(domainSeparator: Bytes32, structHash: AbiWord): Bytes32 {
  return keccak(typedDataMessage(domainSeparator, structHash));
}
