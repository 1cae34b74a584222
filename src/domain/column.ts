/**
 * One thing a row, for rows that are numbered and come and go by the hundred thousand. What is numbers stands
 * beside it in typed arrays: a collector of memory follows no link into those, and a row that is all columns
 * is nothing that it has to visit.
 */

import { IN_PAGE, PAGE_BITS, PAGE_ROWS } from './page.ts';

export interface Column<T> {
  get(row: number): T | undefined;
  set(row: number, thing: T | undefined): void;
}

/** In pages, made when one of their rows is written first: nothing that grows is ever copied whole. */
export function createColumn<T>(): Column<T> {
  const pages: ((T | undefined)[] | undefined)[] = [];
  return {
    get: (row) => pages[row >>> PAGE_BITS]?.[row & IN_PAGE],
    set(row, thing) {
      const page = (pages[row >>> PAGE_BITS] ??= Array.from({ length: PAGE_ROWS }, () => undefined));
      page[row & IN_PAGE] = thing;
    },
  };
}
