/** A queue is a list of which the front is taken. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createQueue } from './queue.ts';

test('it answers as a list does, over more than it keeps in one piece', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -2_000, max: 2_000 }), { maxLength: 30 }), (steps) => {
      const [queue, list] = [createQueue<number>(), [] as number[]];
      let next = 0;
      for (const step of steps) {
        for (let n = 0; n < step; n += 1, next += 1) {
          queue.push(next);
          list.push(next);
        }
        for (let n = 0; n > step; n -= 1) {
          expect(queue.first()).toBe(list[0]);
          queue.take();
          list.shift();
        }
        expect([queue.size, queue.first()]).toEqual([list.length, list[0]]);
      }
    }),
    { numRuns: 50 },
  );
});
