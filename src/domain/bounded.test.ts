/** What is kept never exceeds either bound, and it is the newest that are kept. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBoundedMap } from './bounded.ts';

test('law: the newest entries that both bounds allow, and a word about each one that had to go', () => {
  const arbBounds = fc.record({
    most: fc.integer({ min: 1, max: 8 }),
    mostWeight: fc.integer({ min: 1, max: 60 }),
  });
  const arbStep = fc.record({
    key: fc.integer({ min: 0, max: 12 }).map(String),
    value: fc.integer({ min: 0, max: 40 }),
    set: fc.boolean(),
    fewer: fc.boolean(),
  });
  fc.assert(
    fc.property(arbBounds, fc.array(arbStep, { maxLength: 60 }), ({ most, mostWeight }, steps) => {
      const forgotten: [string, number][] = [];
      let now = most;
      const map = createBoundedMap<string, number>({
        most: () => now,
        mostWeight,
        weigh: (value) => value,
        forgot: (...entry) => forgotten.push(entry),
      });
      let kept: [string, number][] = [];
      const gone: [string, number][] = [];
      for (const { key, value, set, fewer } of steps) {
        const known = kept.find(([other]) => other === key);
        if (set) {
          if (fewer) now = Math.max(1, now - 1);
          map.set(key, value);
          kept = [...kept.filter((each) => each !== known), [key, value]];
          while (kept.length > now || kept.reduce((sum, [, weight]) => sum + weight, 0) > mostWeight)
            gone.push(kept.shift() as [string, number]);
        } else {
          expect(map.use(key)).toBe(known?.[1]);
          if (known !== undefined) kept = [...kept.filter((each) => each !== known), known];
        }
        for (let other = 0; other <= 12; other++) {
          const expected = kept.find(([at]) => at === String(other))?.[1];
          expect(map.get(String(other))).toBe(expected);
          expect(map.has(String(other))).toBe(expected !== undefined);
        }
      }
      expect(forgotten).toEqual(gone);
    }),
  );
});
