/** Average cost to the millionth of a dollar: nothing is made or lost by counting it. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDecimal } from '../../pricing/rational.ts';
import {
  emptyPosition,
  usdMicrosOf,
  applyTrade,
  applyOwnerMove,
  valueUnpriced,
  valueOf,
  positionViewOf,
} from './pnl.ts';

const usd = (text: string) => parseDecimal(text) ?? { num: 0n, den: 1n };
const WETH = 10n ** 18n;

test('values base units at a price, in millionths', () => {
  expect(usdMicrosOf(10n * WETH, 18, usd('2500.5'))).toBe(25_005_000_000n);
  expect(usdMicrosOf(24_973_895_500n, 6, usd('1'))).toBe(24_973_895_500n);
});

test('bought at 2000 and at 3000, one sold at 2600: 100 realised, 100 unrealised', () => {
  let weth = applyTrade(emptyPosition('WETH'), WETH, 2_000_000_000n);
  weth = applyTrade(weth, WETH, 3_000_000_000n);
  weth = applyTrade(weth, -WETH, 2_600_000_000n);
  expect(weth).toMatchObject({ quantity: WETH, costMicros: 2_500_000_000n, realisedMicros: 100_000_000n });
  expect(positionViewOf(weth, usd('2600')).unrealisedMicros).toBe(100_000_000n);
});

test('through zero into a short position and back', () => {
  let weth = applyTrade(emptyPosition('WETH'), WETH, 2_000_000_000n);
  weth = applyTrade(weth, -3n * WETH, 6_600_000_000n);
  expect(weth).toMatchObject({
    quantity: -2n * WETH,
    costMicros: -4_400_000_000n,
    realisedMicros: 200_000_000n,
  });
  weth = applyTrade(weth, 2n * WETH, 4_000_000_000n);
  expect(weth).toMatchObject({ quantity: 0n, costMicros: 0n, realisedMicros: 600_000_000n });
});

test('deposits and withdrawals are no profit, and changes before the first price wait for one', () => {
  let weth = applyOwnerMove(emptyPosition('WETH'), 2n * WETH, undefined);
  expect(positionViewOf(weth, undefined)).toMatchObject({ valueMicros: null, unrealisedMicros: null });
  weth = valueUnpriced(weth, usd('2500'));
  expect(positionViewOf(weth, usd('2500')).unrealisedMicros).toBe(0n);
  weth = applyOwnerMove(weth, -WETH, usd('2700'));
  // It left at 2700: 200 of its gain is realised, and 2300 of the owner's money is still in.
  expect(weth).toMatchObject({
    realisedMicros: 200_000_000n,
    ownerMicros: 2_300_000_000n,
    costMicros: 2_500_000_000n,
  });
});

test('law: in any order, realised + unrealised = value now - cash that changed hands', () => {
  const step = fc.record({
    quantity: fc.bigInt({ min: -(10n ** 21n), max: 10n ** 21n }),
    micros: fc.bigInt({ min: 0n, max: 10n ** 13n }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.bigInt({ min: 1n, max: 10n ** 7n }), (steps, cents) => {
      const price = { num: cents, den: 100n };
      let position = emptyPosition('X');
      let cash = 0n;
      for (const { quantity, micros } of steps) {
        position = applyTrade(position, quantity, micros);
        if (quantity !== 0n) cash += quantity > 0n ? micros : -micros;
      }
      const { valueMicros, unrealisedMicros } = positionViewOf(position, price);
      expect(position.realisedMicros + (unrealisedMicros ?? 0n)).toBe((valueMicros ?? 0n) - cash);
      expect(valueMicros).toBe(valueOf(position.quantity, price));
    }),
    { numRuns: 500 },
  );
});
