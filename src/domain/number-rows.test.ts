import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createNumberRows } from './number-rows.ts';

test('law: a row keeps what was put there until it is free, and begins with zeros', () => {
  const step = fc.oneof(
    fc.constant('take' as const),
    fc.record({ free: fc.nat() }),
    fc.record({ at: fc.nat(), field: fc.nat(2), value: fc.double({ noNaN: true }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const rows = createNumberRows(3);
      const model = new Map<number, number[]>();
      const pick = (at: number) => [...model.keys()][at % model.size];
      for (const each of steps) {
        if (each === 'take') {
          const row = rows.take();
          expect(model.has(row)).toBe(false);
          model.set(row, [0, 0, 0]);
        } else if (model.size > 0 && 'free' in each) {
          const row = pick(each.free) as number;
          model.delete(row);
          rows.free(row);
        } else if (model.size > 0 && 'at' in each) {
          const row = pick(each.at) as number;
          (model.get(row) as number[])[each.field] = each.value;
          rows.set(row, each.field, each.value);
        }
        for (const [row, values] of model)
          expect(values.map((_, field) => rows.get(row, field))).toEqual(values);
      }
    }),
  );
});

test('more rows than a page has', () => {
  const rows = createNumberRows(2);
  const taken = Array.from({ length: 9_000 }, () => rows.take());
  for (const row of taken) rows.set(row, 1, row);
  expect(taken.every((row) => rows.get(row, 1) === row && rows.get(row, 0) === 0)).toBe(true);
});
