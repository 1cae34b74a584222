import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createShortMemory } from './short-memory.ts';

test('law: has what was set within the time, up to the most, and nothing else', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.record({ set: fc.integer({ min: 0, max: 30 }) }),
          fc.record({ passMs: fc.integer({ min: 0, max: 400 }) }),
          fc.constant({ forget: true }),
        ),
      ),
      (steps) => {
        let nowMs = 1_000;
        const memory = createShortMemory<number>(
          { clock: { monotonicMs: () => nowMs } },
          { keepMs: 1_000, most: 20 },
        );
        const set = new Map<number, { value: number; atMs: number }>();
        for (const [value, step] of steps.entries()) {
          if ('passMs' in step) nowMs += step.passMs;
          else if ('forget' in step) memory.forgetOld();
          else {
            memory.set(`${step.set}`, value);
            set.delete(step.set);
            set.set(step.set, { value, atMs: nowMs });
          }
          const young = [...set].filter(([, { atMs }]) => nowMs - atMs <= 1_000);
          expect(memory.size).toBeLessThanOrEqual(20);
          // The newest are kept, whatever the order of forgetting.
          for (const [key, { value: expected }] of young.slice(-19))
            expect(memory.get(`${key}`)).toBe(expected);
          for (const [key, { atMs }] of set)
            if (nowMs - atMs > 1_000) expect(memory.get(`${key}`)).toBeUndefined();
        }
        nowMs += 1_001;
        memory.forgetOld();
        expect(memory.size).toBe(0);
      },
    ),
  );
});
