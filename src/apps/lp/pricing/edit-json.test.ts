/** A value in JSON text is replaced; the rest of the text stays, character by character. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withValueAt } from './edit-json.ts';

const FILE = `{
  "app": "lp",   "odd" : [1,  2],
  "lp": {
    "pairs": [
      { "base": "WETH", "quote": "USDC" },
      {
        "base": "WBTC",
        "quote": "USDC", "params": {"gamma": 5e-4}
      }
    ],
    "text": "a \\"pairs\\": [ } ]"
  }
}
`;

test('a value on one line stays on one line', () => {
  const next = withValueAt(FILE, ['lp', 'pairs', 0], { base: 'WETH', quote: 'USDC', params: { alpha: -1 } });
  expect(next).toBe(
    FILE.replace(
      '{ "base": "WETH", "quote": "USDC" }',
      '{ "base": "WETH", "quote": "USDC", "params": { "alpha": -1 } }',
    ),
  );
});

test('a value on several lines keeps its indentation', () => {
  const next = withValueAt(FILE, ['lp', 'pairs', 1], { base: 'WBTC', quote: 'USDC' });
  expect(next).toContain('      {\n        "base": "WBTC",\n        "quote": "USDC"\n      }\n    ],');
  expect(next.startsWith(FILE.slice(0, FILE.indexOf('      {\n')))).toBe(true);
});

test('error: a place that does not exist', () => {
  expect(() => withValueAt(FILE, ['lp', 'pairs', 2], {})).toThrow('lp.pairs.2');
});

test('law: any value in any JSON text', () => {
  fc.assert(
    fc.property(fc.json(), fc.json(), fc.json(), fc.constantFrom(0, 1, 2), (one, other, value, space) => {
      const json = { a: [JSON.parse(one) as unknown, { b: JSON.parse(other) as unknown }] };
      const next = withValueAt(JSON.stringify(json, null, space), ['a', 1, 'b'], JSON.parse(value));
      expect(JSON.parse(next)).toEqual({ a: [json.a[0], { b: JSON.parse(value) as unknown }] });
    }),
  );
});
