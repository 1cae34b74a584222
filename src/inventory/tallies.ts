/**
 * What each taker has live on a pair: one small object each, its amounts and its name in rows that a
 * collector of memory does not look into. There are as many as takers with a live quote.
 */

import { type BigintRows, createBigintRows } from '../domain/bigint-rows.ts';
import { IN_PAGE, PAGE_BITS, PAGE_ROWS } from '../domain/page.ts';
import { createTexts, LONGEST, type Texts } from '../domain/texts.ts';
import type { Outstanding } from './limits.ts';

/** What a taker has live on a pair. To be kept only while something counts here. */
export interface Tally extends Outstanding {
  readonly pair: string;
  readonly taker: string;
  /**
   * All that its taker has live; undefined while it asks for this one pair, as most do: then this is that as
   * well.
   */
  all: Taker | undefined;
}

/** What a taker of several pairs has live. */
export interface Taker extends Outstanding {
  /** What it asked for first, and is found by. */
  readonly first: Tally;
  /** As many more as it asks for while anything of it is live. */
  readonly others: Tally[];
  /**
   * Those by pair, once they are more than are looked through in no time: whoever routes for others asks for
   * every pair.
   */
  byPair: Map<string, Tally> | undefined;
}

export interface Tallies {
  make(taker: string, pair: string, all: Taker | undefined): Tally;
  /** Of one that nothing counts against any more: its row may be another's from here on. */
  free(tally: Tally): void;
}

/** Where the numbers are. */
class Store {
  readonly takers: Texts<string> = createTexts<string>(LONGEST.account);
  /** Notional and loss by turns. */
  readonly #pages: BigintRows[] = [];
  readonly #freed: number[] = [];
  #rows = 0;

  take(taker: string): number {
    let row = this.#freed.pop();
    if (row === undefined) {
      if ((this.#rows & IN_PAGE) === 0) this.#pages.push(createBigintRows(2 * PAGE_ROWS));
      row = this.#rows++;
    }
    this.takers.set(row, taker);
    return row;
  }

  free(row: number): void {
    this.set(row, 0, undefined);
    this.set(row, 1, undefined);
    this.#freed.push(row);
  }

  get(row: number, which: 0 | 1): bigint {
    return (this.#pages[row >>> PAGE_BITS] as BigintRows).get(2 * (row & IN_PAGE) + which) ?? 0n;
  }

  set(row: number, which: 0 | 1, amount: bigint | undefined): void {
    (this.#pages[row >>> PAGE_BITS] as BigintRows).set(2 * (row & IN_PAGE) + which, amount);
  }
}

class StoredTally implements Tally {
  readonly row: number;
  readonly pair: string;
  readonly #store: Store;
  count = 0;
  all: Taker | undefined;

  constructor(store: Store, row: number, pair: string, all: Taker | undefined) {
    this.#store = store;
    this.row = row;
    this.pair = pair;
    this.all = all;
  }

  get taker(): string {
    return this.#store.takers.get(this.row) as string;
  }

  get notional(): bigint {
    return this.#store.get(this.row, 0);
  }

  set notional(amount: bigint) {
    this.#store.set(this.row, 0, amount);
  }

  get gapLoss(): bigint {
    return this.#store.get(this.row, 1);
  }

  set gapLoss(amount: bigint) {
    this.#store.set(this.row, 1, amount);
  }
}

export function createTallies(): Tallies {
  const store = new Store();
  return {
    make: (taker, pair, all) => new StoredTally(store, store.take(taker), pair, all),
    free: (tally) => store.free((tally as StoredTally).row),
  };
}
