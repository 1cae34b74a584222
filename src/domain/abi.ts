/** ABI encoding: 32-byte words, and byte strings padded to whole words. */

import { InvariantError } from './errors.ts';
import { hexDigitsInto, newBytes, type Hex } from './hex.ts';

/** What takes one word. A hash may stay bytes: hex of it would be written and read again for nothing. */
export type AbiWord = bigint | number | Hex | Uint8Array;

/**
 * Writes a byte string of a known length from front to back. Every method throws `InvariantError` for a value
 * that does not fit: a silent wrap would sign another order.
 */
export class AbiWriter {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(length: number) {
    this.#bytes = newBytes(length);
  }

  /** Writes one word: a number big endian, hex right-aligned (an address fills the low 20 bytes), a hash. */
  word(value: AbiWord): this {
    if (typeof value === 'string') return this.#digits(value, 2, 32);
    return typeof value === 'object' ? this.#hash(value) : this.uint(value, 32);
  }

  /** Writes a non-negative whole number in `width` bytes, big endian. */
  uint(value: bigint | number, width: number): this {
    if (value < 0) throw new InvariantError(`${value} does not fit uint${8 * width}.`);
    return this.#digits(value.toString(16), 0, width);
  }

  /** Writes the bytes as they are. */
  raw(hex: Hex): this {
    return this.#digits(hex, 2, byteLength(hex));
  }

  /** Writes what stands behind an offset: the length, then the bytes padded to whole words. */
  dynamic(hex: Hex): this {
    const length = byteLength(hex);
    this.uint(length, 32).raw(hex);
    const end = this.#at + paddedLength(length) - length;
    this.#bytes.fill(0, this.#at, end);
    this.#at = end;
    return this;
  }

  /** Returns the whole string. Throws `InvariantError` unless every byte of it has been written. */
  get bytes(): Uint8Array {
    if (this.#at !== this.#bytes.length)
      throw new InvariantError(`${this.#at} of ${this.#bytes.length} bytes were encoded.`);
    return this.#bytes;
  }

  #hash(hash: Uint8Array): this {
    if (hash.length !== 32 || this.#at + 32 > this.#bytes.length)
      throw new InvariantError(`${hash.length} bytes do not fit one word.`);
    this.#bytes.set(hash, this.#at);
    this.#at += 32;
    return this;
  }

  #digits(text: string, from: number, width: number): this {
    const end = this.#at + width;
    if (end > this.#bytes.length || text.length - from > 2 * width)
      throw new InvariantError(`"${text.slice(0, 80)}" does not fit ${width} bytes.`);
    hexDigitsInto(this.#bytes, this.#at, end, text, from);
    this.#at = end;
    return this;
  }
}

/** Computes abi.encode of values that take one word each. */
export function encodeWords(values: readonly AbiWord[]): Uint8Array {
  const writer = new AbiWriter(32 * values.length);
  for (const value of values) writer.word(value);
  return writer.bytes;
}

/** Returns the number of bytes that `dynamic` writes. */
export const dynamicLength = (hex: Hex): number => 32 + paddedLength(byteLength(hex));

export const byteLength = (hex: Hex): number => (hex.length - 2) >> 1;

const paddedLength = (length: number): number => Math.ceil(length / 32) * 32;
