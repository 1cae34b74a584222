/**
 * Very many short texts by number: bytes of a typed array and no object for each, for a collector of memory
 * goes through every object there is while the loop waits. What is longer than expected, or has characters
 * beyond Latin-1, is kept as it is.
 */

import { IN_PAGE, PAGE_BITS, PAGE_ROWS } from './page.ts';

export interface Texts<T extends string> {
  get(row: number): T | undefined;
  set(row: number, text: T | undefined): void;
  has(row: number): boolean;
  /** Does this text stand there? Makes none to find out. */
  is(row: number, text: string): boolean;
}

/**
 * Characters of nearly all texts of a kind: an order id or quote id; an account; a UUID; a chain, an account
 * and a nonce of 256 bits.
 */
export const LONGEST = { id: 71, account: 47, rfqId: 47, group: 135 } as const;

const FIRST_ROWS = 32;
/** Before each text stands its length + 1, or one of these. */
const ABSENT = 0;
const AS_IT_IS = 255;

/** `most`: characters of nearly all of them, at most 253. */
export function createTexts<T extends string>(most: number): Texts<T> {
  const stride = most + 1;
  const pages: Buffer[] = [];
  const others = new Map<number, T>();

  /** The page of a row, with room for it. Only the first begins small, so only that one is ever copied. */
  function roomFor(row: number): Buffer {
    const at = row >>> PAGE_BITS;
    while (pages.length <= at)
      pages.push(Buffer.alloc(stride * (pages.length === 0 ? FIRST_ROWS : PAGE_ROWS)));
    let page = pages[at] as Buffer;
    if (startOf(row) < page.length) return page;
    let room = page.length;
    while (room <= startOf(row)) room *= 2;
    const larger = Buffer.alloc(room);
    larger.set(page);
    page = pages[at] = larger;
    return page;
  }

  const startOf = (row: number): number => stride * (row & IN_PAGE);

  /** Its first byte; `ABSENT` where nothing was written yet. */
  const markAt = (row: number): number => pages[row >>> PAGE_BITS]?.[startOf(row)] ?? ABSENT;

  function write(page: Buffer, start: number, text: T): boolean {
    if (text.length > most) return false;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code > 255) return false;
      page[start + 1 + at] = code;
    }
    page[start] = text.length + 1;
    return true;
  }

  return {
    get(row) {
      const mark = markAt(row);
      if (mark === ABSENT) return undefined;
      if (mark === AS_IT_IS) return others.get(row);
      const start = startOf(row) + 1;
      return (pages[row >>> PAGE_BITS] as Buffer).toString('latin1', start, start + mark - 1) as T;
    },
    set(row, text) {
      const mark = markAt(row);
      if (mark === AS_IT_IS) others.delete(row);
      if (text === undefined) {
        if (mark !== ABSENT) (pages[row >>> PAGE_BITS] as Buffer)[startOf(row)] = ABSENT;
        return;
      }
      const page = roomFor(row);
      if (write(page, startOf(row), text)) return;
      page[startOf(row)] = AS_IT_IS;
      others.set(row, text);
    },
    has: (row) => markAt(row) !== ABSENT,
    is(row, text) {
      const mark = markAt(row);
      if (mark === AS_IT_IS) return others.get(row) === text;
      if (mark !== text.length + 1) return false;
      const page = pages[row >>> PAGE_BITS] as Buffer;
      const start = startOf(row) + 1;
      for (let at = 0; at < text.length; at += 1) if (page[start + at] !== text.charCodeAt(at)) return false;
      return true;
    },
  };
}
