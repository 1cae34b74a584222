/** ABI encoding as hex text: 32-byte words, and byte strings padded to whole words. */

import { InvariantError } from './errors.ts';
import type { Hex } from './hex.ts';

/** Hex digits without `0x`. */
export type HexDigits = string;

/**
 * One 32-byte word: a number big endian, hex right-aligned (an address fills the low 20 bytes). Throws
 * `InvariantError` when the value does not fit: a silent wrap would sign another order.
 */
export function word(value: bigint | number | Hex): HexDigits {
  if (typeof value === 'string') {
    if (value.length > 66) throw new InvariantError('More than 32 bytes do not fit a word.');
    return value.slice(2).padStart(64, '0');
  }
  return uint(value, 32);
}

/** A non-negative whole number in `bytes` bytes, big endian. Throws `InvariantError` when it does not fit. */
export function uint(value: bigint | number, bytes: number): HexDigits {
  const digits = value.toString(16);
  if (value < 0 || digits.length > 2 * bytes)
    throw new InvariantError(`${value} does not fit uint${8 * bytes}.`);
  return digits.padStart(2 * bytes, '0');
}

/** abi.encode of values that take one word each. */
export function encodeWords(values: readonly (bigint | number | Hex)[]): Hex {
  let digits = '';
  for (const value of values) digits += word(value);
  return `0x${digits}`;
}

/** abi.encode of `bytes` behind its offset: the length, then the bytes padded to whole words. */
export function encodeBytes(hex: Hex): HexDigits {
  return word(byteLength(hex)) + hex.slice(2).padEnd(2 * paddedLength(hex), '0');
}

/** How many bytes `encodeBytes` gives. */
export const encodedLength = (hex: Hex): number => 32 + paddedLength(hex);

export const byteLength = (hex: Hex): number => (hex.length - 2) >> 1;

const paddedLength = (hex: Hex): number => Math.ceil(byteLength(hex) / 32) * 32;
