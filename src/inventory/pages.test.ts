/**
 * Whatever grows with quotes asks the system for little memory at once: all of it grows at the same quote,
 * and the loop waits for that.
 */

import { expect, test } from 'vitest';
import { createBoundedMap } from '../domain/bounded.ts';
import { createNumberRows } from '../domain/number-rows.ts';
import { createTexts, LONGEST } from '../domain/texts.ts';
import { createHolds } from './holds.ts';
import { createTallies } from './tallies.ts';

const ENTRIES = 6_000;
/** Pages of the widest rows, and the slots of a table of so many keys, which are doubled by themselves. */
const MOST_BYTES = 192 * 1024;

test.each([
  [
    'texts',
    () => {
      const texts = createTexts<string>(LONGEST.group);
      return (row: number) => texts.set(row, `text ${row}`);
    },
  ],
  [
    'rows of numbers',
    () => {
      const rows = createNumberRows(8);
      return () => rows.take();
    },
  ],
  [
    'a bounded map',
    () => {
      const map = createBoundedMap<string, number>({ most: () => ENTRIES });
      return (row: number) => map.set(`key ${row}`, row);
    },
  ],
  [
    'promises',
    () => {
      const holds = createHolds();
      const where = { chainId: 1, token: `0x${'a'.repeat(40)}` as const };
      return (row: number) =>
        holds.add(
          {
            ...where,
            orderId: `quote ${row}`,
            amount: 1n,
            input: { ...where, amount: 1n },
            group: `nonce ${row}`,
            lapsesAt: 1,
            taker: 'alice',
            pair: 'A/B',
            side: 'buy',
            notional: 1n,
          },
          { at: 0 } as never,
          0,
        );
    },
  ],
  [
    'tallies of takers',
    () => {
      const tallies = createTallies();
      return (row: number) => {
        tallies.make(`taker ${row}`, 'A/B', undefined).notional = 1n;
      };
    },
  ],
])('%s', (_, make) => {
  expect(mostAtOnce(make())).toBeLessThan(MOST_BYTES);
});

/** Bytes of arrays that the costliest of all entries asks for. */
function mostAtOnce(add: (row: number) => unknown): number {
  let [most, last] = [0, process.memoryUsage().arrayBuffers];
  for (let row = 0; row < ENTRIES; row += 1) {
    add(row);
    const now = process.memoryUsage().arrayBuffers;
    most = Math.max(most, now - last);
    last = now;
  }
  return most;
}
