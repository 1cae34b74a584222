/**
 * Some numbers a row, for as many rows as come and go: in pages of typed arrays, so that nothing is copied
 * when they grow and a collector of memory has nothing to visit.
 */

import { IN_PAGE, PAGE_BITS, PAGE_ROWS } from './page.ts';

export interface NumberRows {
  /** A row of zeros. */
  take(): number;
  free(row: number): void;
  get(row: number, field: number): number;
  set(row: number, field: number, value: number): void;
}

export function createNumberRows(fields: number): NumberRows {
  const pages: Float64Array[] = [];
  const freed: number[] = [];
  let rows = 0;

  const pageOf = (row: number): Float64Array => pages[row >>> PAGE_BITS] as Float64Array;
  const placeOf = (row: number): number => fields * (row & IN_PAGE);

  return {
    take() {
      const row = freed.pop();
      if (row !== undefined) {
        pageOf(row).fill(0, placeOf(row), placeOf(row) + fields);
        return row;
      }
      if (rows === pages.length * PAGE_ROWS) pages.push(new Float64Array(fields * PAGE_ROWS));
      rows += 1;
      return rows - 1;
    },
    free: (row) => void freed.push(row),
    get: (row, field) => pageOf(row)[placeOf(row) + field] as number,
    set: (row, field, value) => void (pageOf(row)[placeOf(row) + field] = value),
  };
}
