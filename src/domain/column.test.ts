/** A column is an array of rows that never has to be copied. */

import { expect, test } from 'vitest';
import { createColumn } from './column.ts';

test('a column has what was written last in each of its rows', () => {
  const column = createColumn<string>();
  expect([column.get(0), column.get(1_000_000)]).toEqual([undefined, undefined]);
  for (const row of [0, 255, 256, 250_000]) column.set(row, `row ${row}`);
  column.set(256, undefined);
  expect([0, 1, 255, 256, 250_000].map(column.get)).toEqual([
    'row 0',
    undefined,
    'row 255',
    undefined,
    'row 250000',
  ]);
});
