/** A ring of ids finds what a list of them would find, however often it went round. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createIdRing } from './id-ring.ts';

test('law: the newest of an id that is kept is found, and nothing else', () => {
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        what: fc.constant('add' as const),
        id: fc.integer({ min: 0, max: 12 }).map((n) => `id ${n}`),
      }),
    },
    { weight: 2, arbitrary: fc.constant({ what: 'drop' as const, id: '' }) },
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.array(step, { maxLength: 200, size: 'max' }),
      (rows, steps) => {
        const ring = createIdRing(rows);
        const all: string[] = [];
        let oldest = 0;
        for (const { what, id } of steps) {
          if (what === 'drop') {
            ring.dropOldest();
            oldest = Math.min(oldest + 1, all.length);
          } else if (all.length - oldest === rows) expect(() => ring.add(id)).toThrow('A ring is full');
          else {
            expect(ring.add(id)).toBe(all.length);
            all.push(id);
          }
          expect([ring.oldest, ring.next]).toEqual([oldest, all.length]);
          for (let n = 0; n <= 12; n += 1) {
            const newest = all.lastIndexOf(`id ${n}`);
            expect(ring.find(`id ${n}`)).toBe(newest >= oldest ? newest : -1);
          }
          expect(
            new Set(Array.from({ length: all.length - oldest }, (_, at) => ring.rowOf(oldest + at))).size,
          ).toBe(all.length - oldest);
        }
      },
    ),
  );
});

test('a crowd that went round more than once', () => {
  const ring = createIdRing(5_000);
  for (let n = 0; n < 17_000; n += 1) {
    if (n >= 5_000) ring.dropOldest();
    ring.add(`0x${n.toString(16)}`);
  }
  for (let n = 0; n < 17_000; n += 1) expect(ring.find(`0x${n.toString(16)}`)).toBe(n < 12_000 ? -1 : n);
});
