import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLapses } from './lapses.ts';

test('gives out what is due, by time and then by order of scheduling, once', () => {
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
        const lapses = createLapses<number>();
        let waiting: { at: number; id: number }[] = [];
        for (const [id, { at, ask, most }] of steps.entries()) {
          lapses.schedule(at, id);
          waiting.push({ at, id });
          if (ask === undefined) continue;
          const due = waiting
            .filter((each) => each.at <= ask)
            .sort((a, b) => a.at - b.at || a.id - b.id)
            .slice(0, most);
          waiting = waiting.filter((each) => !due.includes(each));
          expect(lapses.due(ask, most)).toEqual(due.map((each) => each.id));
        }
      },
    ),
  );
});
