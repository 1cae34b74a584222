/**
 * One thing a row, for rows that are numbered and come and go by the hundred thousand. What is numbers stands beside it in typed arrays:
 * a collector of memory follows no link into those, and a row that is all columns is nothing that it has to visit.
 */

export interface Column<T> {
  get(row: number): T | undefined;
  set(row: number, thing: T | undefined): void;
}

const PAGE_BITS = 12;
const LAST_OF_PAGE = (1 << PAGE_BITS) - 1;

/** In pages, made when one of their rows is written first: nothing that grows is ever copied whole. */
export function createColumn<T>(): Column<T> {
  const pages: ((T | undefined)[] | undefined)[] = [];
  return {
    get: (row) => pages[row >>> PAGE_BITS]?.[row & LAST_OF_PAGE],
    set(row, thing) {
      const page = (pages[row >>> PAGE_BITS] ??= Array.from({ length: LAST_OF_PAGE + 1 }, () => undefined));
      page[row & LAST_OF_PAGE] = thing;
    },
  };
}
