import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createExpiryQueue } from './expiry.ts';

test('returns what is due once, by second and then first in first out', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          at: fc.nat(30),
          ask: fc.option(fc.nat(30), { nil: undefined }),
          most: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
        }),
        { maxLength: 80 },
      ),
      (steps) => {
        const queue = createExpiryQueue<number>();
        let waiting: { at: number; id: number }[] = [];
        for (const [id, { at, ask, most }] of steps.entries()) {
          queue.schedule(at, id);
          waiting.push({ at, id });
          if (ask === undefined) continue;
          const due = waiting
            .filter((each) => each.at <= ask)
            .sort((a, b) => a.at - b.at || a.id - b.id)
            .slice(0, most);
          waiting = waiting.filter((each) => !due.includes(each));
          expect(queue.due(ask, most)).toEqual(due.map((each) => each.id));
        }
      },
    ),
  );
});
