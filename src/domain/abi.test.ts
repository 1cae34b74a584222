/** ABI encoding equals viem's, and refuses whatever would be cut or leave bytes unwritten. */

import fc from 'fast-check';
import { encodeAbiParameters, encodePacked } from 'viem';
import { expect, test } from 'vitest';
import { AbiWriter, dynamicLength, encodeWords } from './abi.ts';
import { bytesToHex, type Hex, hexToBytes } from './hex.ts';

const arbHex = fc.uint8Array({ maxLength: 100 }).map(bytesToHex);

test('law: words and byte strings equal viem', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), arbHex, (number, bytes) => {
      const word = encodeAbiParameters([{ type: 'uint256' }], [number]);
      expect(bytesToHex(encodeWords([number]))).toBe(word);
      // A hash may be given as bytes.
      expect(bytesToHex(encodeWords([1, hexToBytes(word)]).subarray(32))).toBe(word);
      const writer = new AbiWriter(32 + dynamicLength(bytes)).word(32).dynamic(bytes);
      expect(bytesToHex(writer.bytes)).toBe(encodeAbiParameters([{ type: 'bytes' }], [bytes]));
    }),
  );
});

test('law: packed numbers and bytes equal viem', () => {
  fc.assert(
    fc.property(fc.nat(), arbHex, (number, bytes) => {
      const writer = new AbiWriter(4 + (bytes.length - 2) / 2).uint(number, 4).raw(bytes);
      expect(bytesToHex(writer.bytes)).toBe(encodePacked(['uint32', 'bytes'], [number, bytes]));
    }),
  );
});

test.each<[string, () => unknown]>([
  ['a number beyond its width', () => new AbiWriter(4).uint(2 ** 32, 4)],
  ['a number of more than 256 bits', () => encodeWords([2n ** 256n])],
  ['a negative number', () => encodeWords([-1])],
  ['a fraction', () => encodeWords([1.5])],
  ['no number', () => encodeWords([Number.NaN])],
  ['more than 32 bytes in a word', () => encodeWords([`0x${'00'.repeat(33)}`])],
  ['a hash of more than 32 bytes', () => encodeWords([new Uint8Array(33)])],
  ['a hash of less than 32 bytes', () => encodeWords([new Uint8Array(31)])],
  ['a hash beyond the given length', () => new AbiWriter(31).word(new Uint8Array(32))],
  ['a character that is no hex digit', () => encodeWords(['0x0g'])],
  ['a character beyond ASCII', () => new AbiWriter(1).raw('0x0é' as Hex)],
  ['more than the given length', () => new AbiWriter(31).word(1)],
  ['less than the given length', () => new AbiWriter(33).word(1).bytes],
])('error: %s', (_, encode) => expect(encode).toThrow(/fit|hex|encoded/i));
