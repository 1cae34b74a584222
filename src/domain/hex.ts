/** Hex strings, the bytes they stand for, and addresses inside 32-byte words. */

import { InvariantError, RequestError } from './errors.ts';

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
const ADDRESS_PADDING = `0x${'0'.repeat(24)}` as const;

export const isAddress = (text: string): text is Address => ADDRESS.test(text);
export const isBytes32 = (text: string): text is Bytes32 => BYTES32.test(text);

/** Throws `InvariantError` when the text is not `0x` and an even number of hex digits. */
export function hexToBytes(hex: string): Uint8Array {
  const length = (hex.length - 2) / 2;
  // Node's Buffer stops at the first character that is no digit.
  const bytes = nodeBuffer
    ? nodeBuffer.from(hex.slice(2), 'hex')
    : Uint8Array.from({ length: HEX.test(hex) ? length : 0 }, (_, at) =>
        Number.parseInt(hex.slice(2 + 2 * at, 4 + 2 * at), 16),
      );
  if (bytes.length !== length) throw new InvariantError('Not hex.', { facts: { length: hex.length } });
  return bytes;
}

/**
 * Writes hex digits right-aligned into `bytes[at..end)`, zeros before them. `text[from..]` are digits of
 * either case that fit there; throws `InvariantError` for any other character.
 */
export function hexDigitsInto(bytes: Uint8Array, at: number, end: number, text: string, from: number): void {
  let wrong = 0;
  let byte = end;
  for (let digit = text.length - 1; digit >= from; digit -= 2) {
    const low = digitValue(text, digit);
    const high = digit > from ? digitValue(text, digit - 1) : 0;
    wrong |= low | high;
    byte -= 1;
    bytes[byte] = (high << 4) | low;
  }
  if (wrong < 0) throw new InvariantError('Not hex.', { facts: { length: text.length } });
  while (byte > at) bytes[--byte] = 0;
}

const DIGIT_VALUES = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
);
const digitValue = (text: string, at: number): number => DIGIT_VALUES[text.charCodeAt(at)] ?? -1;

/** Bytes to be overwritten as a whole: what they hold at first is undefined. */
export const newBytes = (length: number): Uint8Array =>
  nodeBuffer ? nodeBuffer.allocUnsafe(length) : new Uint8Array(length);

export function bytesToHex(bytes: Uint8Array): Hex {
  if (!nodeBuffer) return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  return `0x${nodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;
}

/** Several times faster than loops. Browsers run this file too and have no Buffer. */
const nodeBuffer = (globalThis as { Buffer?: typeof Buffer }).Buffer;

/** Puts an address in the low 20 bytes of a word, as OIF writes oracles, settlers, tokens and recipients. */
export function addressToBytes32(address: Address): Bytes32 {
  return `${ADDRESS_PADDING}${address.slice(2).toLowerCase()}`;
}

/**
 * Returns the address in a word. Throws `HexError` when the upper 12 bytes are not zero: such a word is no
 * address.
 */
export function bytes32ToAddress(word: Bytes32): Address {
  if (!word.startsWith(ADDRESS_PADDING) || word.length !== 66)
    throw new HexError({ text: word, want: 'an address in 32 bytes' });
  return `0x${word.slice(26).toLowerCase()}`;
}

export class HexError extends RequestError {
  constructor({ text, want }: { text: string; want: string }) {
    super(`"${text.slice(0, 80)}" is not ${want}.`, { code: 'bad_request', facts: { want } });
  }
}
