/**
 * 32-byte ABI words written into a buffer: the small change of every encoder in this room, in plain loops
 * because a quote writes dozens of them.
 */

import { InvariantError } from './errors.ts';

/**
 * Bytes with anything in them, for a caller that writes every one; from Node's pool where there is one, for
 * browsers run this too.
 */
export const unsetBytes: (length: number) => Uint8Array =
  (globalThis as { Buffer?: typeof Buffer }).Buffer?.allocUnsafe ?? ((length) => new Uint8Array(length));

/**
 * Writes a uint256, big endian. Throws `InvariantError` when it does not fit: a silent wrap would sign
 * another order.
 */
export function writeUint(target: Uint8Array, offset: number, value: bigint): void {
  if (value < 0n || value >> 256n !== 0n) throw new InvariantError(`${value} does not fit uint256.`);
  if (value <= SAFE) return writeNumber(target, offset, Number(value));
  const digits = value.toString(16);
  const bytes = (digits.length + 1) >> 1;
  zero(target, offset, offset + 32 - bytes);
  writeDigits(target, offset + 32 - bytes, digits.length % 2 === 0 ? digits : `0${digits}`, 0, bytes);
}

/** Writes a number (whole, below 2^53) as a word. */
export function writeNumber(target: Uint8Array, offset: number, value: number): void {
  zero(target, offset, offset + 24);
  write32(target, offset + 24, Math.floor(value / 0x1_0000_0000));
  write32(target, offset + 28, value);
}

/**
 * Writes hex bytes right-aligned in a word; a full 32-byte value fills it, an address takes the low 20 bytes.
 */
export function writeHexWord(target: Uint8Array, offset: number, hex: string): void {
  const bytes = (hex.length - 2) >> 1;
  if (bytes > 32) throw new InvariantError('More than 32 bytes do not fit a word.');
  zero(target, offset, offset + 32 - bytes);
  writeDigits(target, offset + 32 - bytes, hex, 2, bytes);
}

/** Writes the bytes of a hex string as they are; returns how many. */
export function writeHex(target: Uint8Array, offset: number, hex: string): number {
  const bytes = (hex.length - 2) >> 1;
  writeDigits(target, offset, hex, 2, bytes);
  return bytes;
}

/** Zeroes a range. */
export function zero(target: Uint8Array, from: number, to: number): void {
  for (let at = from; at < to; at++) target[at] = 0;
}

/** Writes a uint32, big endian. */
export function write32(target: Uint8Array, offset: number, value: number): void {
  target[offset] = value >>> 24;
  target[offset + 1] = value >>> 16;
  target[offset + 2] = value >>> 8;
  target[offset + 3] = value;
}

function writeDigits(target: Uint8Array, offset: number, text: string, from: number, bytes: number): void {
  let seen = 0;
  for (let at = 0; at < bytes; at++) {
    const high = NIBBLE[text.charCodeAt(from + 2 * at)] ?? BAD;
    const low = NIBBLE[text.charCodeAt(from + 2 * at + 1)] ?? BAD;
    seen |= high | low;
    target[offset + at] = (high << 4) | low;
  }
  // Whatever is no digit has a high bit; one look at the end instead of one a digit.
  if (seen > 15 || text.length !== from + 2 * bytes)
    throw new InvariantError('Not hex.', { facts: { length: text.length } });
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const BAD = 255;
const NIBBLE = new Uint8Array(128).fill(BAD);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  NIBBLE[digit.charCodeAt(0)] = value;
  NIBBLE[digit.toUpperCase().charCodeAt(0)] = value;
}
