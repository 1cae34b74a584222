/**
 * Numbers for ids, in the order they came, found again by id while they are kept: what is known of number n
 * stands in row n of a ring, in columns and typed arrays of whoever asks. An id itself is not kept, two
 * seeded hashes of it are, 64 bits: for statistics, which one mistaken id in very many does not change. Money
 * compares whole ids. Nothing here is an object for each id, so that a hundred thousand of them cost a
 * collector of memory nothing.
 */

import { InvariantError } from './errors.ts';
import { hashOf, tableSeed } from './text-table.ts';

export interface IdRing {
  /** Smallest number that is kept, and the number of the next id. */
  readonly oldest: number;
  readonly next: number;
  /** Throws `InvariantError` when all rows are taken. */
  add(id: string): number;
  /** The newest of this id that is kept; -1: there is none. */
  find(id: string): number;
  dropOldest(): void;
  rowOf(number: number): number;
}

export function createIdRing(rows: number): IdRing {
  const seed = tableSeed();
  /** Row + 1 of the newest whose first hash ends so, and of the one before it; 0: there is none. */
  const newest = new Int32Array(2 ** Math.ceil(Math.log2(rows)));
  const before = new Int32Array(rows);
  const tags = new Int32Array(rows);
  const otherTags = new Int32Array(rows);
  let oldest = 0;
  let next = 0;

  /** Whoever has the row now. */
  const numberAt = (row: number): number => next - 1 - ((next - 1 - row) % rows);

  return {
    get oldest() {
      return oldest;
    },
    get next() {
      return next;
    },
    add(id) {
      if (next - oldest >= rows)
        throw new InvariantError('A ring is full: its oldest has to go first.', { facts: { rows } });
      const row = next % rows;
      const tag = hashOf(id, seed);
      tags[row] = tag;
      otherTags[row] = hashOf(id, ~seed);
      const place = tag & (newest.length - 1);
      before[row] = newest[place] as number;
      newest[place] = row + 1;
      next += 1;
      return next - 1;
    },
    find(id) {
      const tag = hashOf(id, seed);
      let otherTag: number | undefined;
      let above = next;
      for (
        let row = (newest[tag & (newest.length - 1)] as number) - 1;
        row !== -1;
        row = (before[row] as number) - 1
      ) {
        const number = numberAt(row);
        // A row that somebody newer has leads on to strangers: all that stood behind it here is older still.
        if (number >= above || number < oldest) return -1;
        if (tags[row] === tag && otherTags[row] === (otherTag ??= hashOf(id, ~seed))) return number;
        above = number;
      }
      return -1;
    },
    dropOldest() {
      if (oldest < next) oldest += 1;
    },
    rowOf: (number) => number % rows,
  };
}
