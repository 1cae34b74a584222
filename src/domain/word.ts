/** 32-byte ABI words written into a buffer: the small change of every encoder in this room. */

import { InvariantError } from './errors.ts';

/** Writes a uint256, big endian. Throws `InvariantError` when it does not fit: a silent wrap would sign another order. */
export function writeUint(target: Buffer, offset: number, value: bigint): void {
  if (value < 0n || value >> 256n !== 0n) throw new InvariantError(`${value} does not fit uint256.`);
  target.writeBigUInt64BE(value >> 192n, offset);
  target.writeBigUInt64BE((value >> 128n) & MASK, offset + 8);
  target.writeBigUInt64BE((value >> 64n) & MASK, offset + 16);
  target.writeBigUInt64BE(value & MASK, offset + 24);
}

/** Writes a number (below 2^53) as a word. */
export function writeNumber(target: Buffer, offset: number, value: number): void {
  target.fill(0, offset, offset + 24);
  target.writeBigUInt64BE(BigInt(value), offset + 24);
}

/** Writes hex bytes right-aligned in a word; a full 32-byte value fills it, an address takes the low 20 bytes. */
export function writeHexWord(target: Buffer, offset: number, hex: string): void {
  const bytes = (hex.length - 2) >> 1;
  if (bytes > 32) throw new InvariantError('More than 32 bytes do not fit a word.');
  const start = offset + 32 - bytes;
  if (bytes < 32) target.fill(0, offset, start);
  // latin1-safe: Buffer.write with 'hex' stops at the first bad digit, so the count is checked.
  if (target.write(hex.slice(2), start, 'hex') !== bytes) throw new InvariantError('Not hex.', { facts: { length: hex.length } });
}

const MASK = (1n << 64n) - 1n;
