/** Laws of texts by number: against a JavaScript map. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTexts } from './texts.ts';

const MOST = 12;
/** Short and long, of one byte a character and of more. */
const text = fc.oneof(
  fc.string({ maxLength: 2 * MOST }),
  fc.string({ unit: 'binary', maxLength: MOST }),
  fc.constantFrom('', 'ÿ'.repeat(MOST), 'Ā', 'x'.repeat(MOST), 'x'.repeat(MOST + 1)),
);
/** Rows near each other, and of several pages. */
const row = fc.oneof(fc.integer({ min: 0, max: 70 }), fc.constantFrom(255, 256, 4095, 9_000));

test('what stands at a number is what was put there last, whatever it is made of', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(row, fc.option(text, { nil: undefined }), text), { maxLength: 200 }),
      (steps) => {
        const texts = createTexts<string>(MOST);
        const model = new Map<number, string>();
        for (const [at, put, other] of steps) {
          texts.set(at, put);
          if (put === undefined) model.delete(at);
          else model.set(at, put);
          expect(texts.get(at)).toBe(put);
          expect(texts.has(at)).toBe(put !== undefined);
          expect(texts.is(at, other)).toBe(put === other);
          if (put !== undefined) expect(texts.is(at, put)).toBe(true);
        }
        for (const at of [...model.keys(), 3, 4_097, 100_000]) expect(texts.get(at)).toBe(model.get(at));
      },
    ),
  );
});
