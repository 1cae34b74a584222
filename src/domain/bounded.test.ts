/** What is kept never exceeds either bound, and it is the newest that are kept. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBoundedMap } from './bounded.ts';

test('law: the newest entries that both bounds allow, and a word about each one that had to go', () => {
  const arbBounds = fc.record({ most: fc.integer({ min: 1, max: 8 }), mostWeight: fc.integer({ min: 1, max: 60 }) });
  fc.assert(
    fc.property(arbBounds, fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 40 })), { maxLength: 60 }), ({ most, mostWeight }, steps) => {
      const forgotten: [number, number][] = [];
      const map = createBoundedMap<number, number>({ most, mostWeight, weigh: (value) => value, forgot: (...entry) => forgotten.push(entry) });
      let kept: [number, number][] = [];
      const gone: [number, number][] = [];
      for (const [key, value] of steps) {
        map.set(key, value);
        kept = [...kept.filter(([other]) => other !== key), [key, value]];
        while (kept.length > most || kept.reduce((sum, [, weight]) => sum + weight, 0) > mostWeight) gone.push(kept.shift() as [number, number]);
        for (let other = 0; other <= 12; other++) {
          const expected = kept.find(([at]) => at === other)?.[1];
          expect(map.get(other)).toBe(expected);
          expect(map.has(other)).toBe(expected !== undefined);
        }
      }
      expect(forgotten).toEqual(gone);
    }),
  );
});
