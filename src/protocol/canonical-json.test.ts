/** Canonical JSON equals a second implementation, and refuses what JSON cannot hold. */

import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, rememberCanonical } from './canonical-json.ts';

test('law: equal to the canonicalize package for any JSON value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: 'medium', stringUnit: 'binary' }), (value) => {
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }),
  );
});

test('keys are sorted by UTF-16 code units, and absent values are left out', () => {
  expect(canonicalJson({ '€': 1, '\r': 2, '1': 3, '\u{1F600}': 4, ö: undefined })).toBe(
    '{"\\r":2,"1":3,"€":1,"\u{1F600}":4}',
  );
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, 1n, Symbol('x'), '\ud800', { '\udc00': 1 }])(
  'error: a value that JSON cannot hold',
  (value) => {
    expect(() => canonicalJson(value)).toThrow(/JSON cannot hold/);
  },
);

test('law: a remembered object is written as any other, wherever it occurs', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (constant, other) => {
      const value = { b: constant, a: [constant, other] };
      const before = canonicalJson(value);
      rememberCanonical(constant);
      expect(canonicalJson(value)).toBe(before);
    }),
  );
});
