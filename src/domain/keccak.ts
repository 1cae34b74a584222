/** keccak-256: one instance of the module, made when this file loads. */

import { bytesToHex, hexToBytes, type Bytes32, type Hex } from './hex.ts';
import { DIGEST_AT, instantiateKeccak, MESSAGE_AT, RATE } from './keccak-module.ts';

const { hash, memory: memoryOf } = instantiateKeccak();
let memory = memoryOf(0);
let digest = memory.subarray(DIGEST_AT, DIGEST_AT + 32);

function run(data: Uint8Array): void {
  const end = MESSAGE_AT + (Math.floor(data.length / RATE) + 1) * RATE;
  if (end > memory.length) {
    memory = memoryOf(end);
    digest = memory.subarray(DIGEST_AT, DIGEST_AT + 32);
  }
  const last = MESSAGE_AT + data.length;
  memory.set(data, MESSAGE_AT);
  // A one bit, zeros, and a one bit at the very end.
  memory.fill(0, last, end);
  memory[last] = 0x01;
  memory[end - 1] = (memory[end - 1] as number) | 0x80;
  hash(end);
}

/** The digest as bytes; a fresh array, the caller may keep it. */
export function keccakBytes(data: Uint8Array): Uint8Array {
  run(data);
  return digest.slice();
}

export function keccak(data: Uint8Array): Bytes32 {
  run(data);
  return bytesToHex(digest);
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
