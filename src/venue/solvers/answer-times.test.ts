import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AnswerCount } from '../../ports/stores/firmness.ts';
import { silentLog } from '../../../test/support/silent.ts';
import { createAnswerTimes, quantileMs } from './answer-times.ts';

test('a quantile is at least the true one, and at most twice it above a millisecond', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.double({ min: 0, max: 2_000, noNaN: true }), { minLength: 1, maxLength: 60 }),
      fc.constantFrom(0.5, 0.99),
      async (times, share) => {
        let rows: AnswerCount[] = [];
        const recorder = createAnswerTimes({
          clock: { nowMs: () => 0, monotonicMs: () => 0, after: () => () => {} },
          log: silentLog,
          store: { addAnswers: async (added) => void (rows = [...added]) },
        });
        for (const ms of times) recorder.record('s', ms);
        await recorder.stop();
        const exact = times.toSorted((a, b) => a - b)[Math.ceil(share * times.length) - 1] ?? 0;
        const shown = quantileMs(rows, share) ?? Number.NaN;
        expect(shown).toBeGreaterThanOrEqual(exact);
        expect(shown).toBeLessThanOrEqual(Math.max(1, 2 * exact));
      },
    ),
  );
});

test('without answers, and beyond two seconds, there is none', () => {
  expect(quantileMs([], 0.5)).toBeNull();
  expect(quantileMs([{ bucket: 19, n: 1 }], 0.5)).toBeNull();
});
