/** Hex strings and bytes: the two spellings of the same value that every encoder here moves between. */

import { RequestError } from './errors.ts';
import { writeHex } from './word.ts';

/** `0x`-prefixed, lower case in everything that firmquote itself writes. */
export type Hex = `0x${string}`;
/** 20 bytes, lower case. */
export type Address = Hex;
/** 32 bytes, lower case. */
export type Bytes32 = Hex;

export const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000';
export const ZERO_BYTES32: Bytes32 = `0x${'0'.repeat(64)}`;

const HEX = /^0x(?:[0-9a-fA-F]{2})*$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const BYTES32 = /^0x[0-9a-fA-F]{64}$/;
/** The upper 12 bytes of a word that is an address. */
const CLEAN = `0x${'0'.repeat(24)}` as const;

export const isHex = (text: string): text is Hex => HEX.test(text);
export const isAddress = (text: string): text is Address => ADDRESS.test(text);
export const isBytes32 = (text: string): text is Bytes32 => BYTES32.test(text);

/** Lower-cases an address. Throws `HexError` when the text is not 20 bytes of hex. */
export function toAddress(text: string): Address {
  if (!isAddress(text)) throw new HexError({ text, want: 'an address (0x and 40 hex digits)' });
  return text.toLowerCase() as Address;
}

/** Bytes of a hex string; the caller has checked that it is one. */
export function hexToBytes(hex: string): Uint8Array {
  if (nodeBuffer) return nodeBuffer.from(hex.slice(2), 'hex');
  const bytes = new Uint8Array((hex.length - 2) >> 1);
  writeHex(bytes, 0, hex);
  return bytes;
}

export function bytesToHex(bytes: Uint8Array): Hex {
  if (!nodeBuffer) return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  const buffer = nodeBuffer.isBuffer(bytes)
    ? bytes
    : nodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return `0x${buffer.toString('hex')}`;
}

/** Node's, several times faster than loops. Browsers run this room too and have none. */
const nodeBuffer = (globalThis as { Buffer?: typeof Buffer }).Buffer;

/** An address in the low 20 bytes of a word, as OIF writes oracles, settlers, tokens and recipients. */
export function addressToBytes32(address: Address): Bytes32 {
  return `${CLEAN}${address.slice(2).toLowerCase()}`;
}

/**
 * The address in a word. Throws `HexError` when the upper 12 bytes are not zero: a dirty word names nobody.
 */
export function bytes32ToAddress(word: Bytes32): Address {
  if (!word.startsWith(CLEAN) || word.length !== 66)
    throw new HexError({ text: word, want: 'an address in 32 bytes' });
  return `0x${word.slice(26).toLowerCase()}`;
}

export class HexError extends RequestError {
  constructor({ text, want }: { text: string; want: string }) {
    super(`"${text.slice(0, 80)}" is not ${want}.`, { code: 'bad_request', facts: { want } });
  }
}
