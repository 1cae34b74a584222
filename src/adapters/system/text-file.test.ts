import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeText, OddTextError } from './text-file.ts';

const bytes = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding);
const BOM = '﻿';

describe('decodeText', () => {
  test('law: UTF-8 reads as it was written, with or without a byte order mark', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0') && !text.startsWith(BOM)),
        (text) => {
          expect(decodeText(bytes(text), 'x')).toBe(text);
          expect(decodeText(bytes(BOM + text), 'x')).toBe(text);
        },
      ),
    );
  });

  test.each([
    ['UTF-16 with a mark', bytes(`${BOM}{"a": 1}`, 'utf16le'), /^x is UTF-16.*Save it as UTF-8\.$/],
    ['UTF-16 of the other order', bytes(`${BOM}a`, 'utf16le').swap16(), /is UTF-16/],
    ['UTF-16 without a mark', bytes('{"a": 1}', 'utf16le'), /a NUL as byte 2: it is UTF-16 without a mark/],
    [
      'Latin-1',
      bytes('pässword', 'latin1'),
      /^x is not UTF-8: byte 2 is not part of a character, as in .* Save it as UTF-8\.$/,
    ],
    ['a character cut off at the end', bytes('aä').subarray(0, 2), /byte 2 is not part of a character/],
    ['a gzip archive', Buffer.from([0x1f, 0x8b, 8, 1, 5]), /not UTF-8: byte 2 is not part of a character/],
  ])('error: %s', (_, content, message) => {
    expect(() => decodeText(content, 'x')).toThrow(OddTextError);
    expect(() => decodeText(content, 'x')).toThrow(message);
  });
});
