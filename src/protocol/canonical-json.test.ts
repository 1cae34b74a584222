/** Canonical JSON equals a second implementation, and refuses what JSON cannot hold. */

import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, rememberOrder } from './canonical-json.ts';

test('law: equal to the canonicalize package for any JSON value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: 'medium', stringUnit: 'binary' }), (value) => {
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }),
  );
});

test('law: the order in which keys were written changes nothing, at any depth', () => {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(fields.map(([key, field]) => [key, sorted(field)]));
  };
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: 'medium' }), (value) => {
      expect(canonicalJson(sorted(value))).toBe(canonicalize(value));
    }),
  );
});

test('law: a remembered value is written as any other, wherever it occurs', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (constant, other) => {
      rememberOrder(constant);
      const value = { a: [constant, other], b: constant };
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
