/**
 * keccak-256 against viem and ethers, at every length around block boundaries and in any sequence.
 */

import { keccak256 as ethersKeccak256 } from 'ethers';
import fc from 'fast-check';
import { keccak256 } from 'viem';
import { expect, test } from 'vitest';
import { bytesToHex } from './hex.ts';
import { keccak, keccakBytes, keccakText } from './keccak.ts';

test('known digests', () => {
  expect(keccakText('')).toBe('0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
  expect(keccakText('abc')).toBe('0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45');
});

test('every length up to five blocks', () => {
  for (let length = 0; length <= 5 * 136 + 1; length += 1) {
    const data = Uint8Array.from({ length }, (_, at) => (at * 167 + length) & 0xff);
    expect(keccak(data)).toBe(keccak256(data));
  }
});

test('law: equals two libraries for any bytes and any sequence of lengths', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc
      .uint8Array({ minLength: 1, maxLength: 64 })
      .chain((seed) =>
        fc
          .integer({ min: 1, max: 200_000 })
          .map((length) =>
            Uint8Array.from({ length }, (_, at) => (seed[at % seed.length] as number) ^ (at >> 8)),
          ),
      ),
  );
  fc.assert(
    fc.property(fc.array(bytes, { minLength: 1, maxLength: 4 }), (list) => {
      for (const data of list) {
        expect(keccak(data)).toBe(keccak256(data));
        expect(bytesToHex(keccakBytes(data))).toBe(ethersKeccak256(data));
      }
    }),
  );
});

test('a returned digest stays unchanged by later hashes', () => {
  const first = keccakBytes(new Uint8Array([1]));
  const copy = Uint8Array.from(first);
  keccakBytes(new Uint8Array([2]));
  expect(first).toEqual(copy);
});
