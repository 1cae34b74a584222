/** The rule of bursts: by count, by net change, and what does not count. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type FillBurst,
  type BurstRule,
  type Acceptance,
  recordAcceptance,
  NO_ACCEPTANCES,
} from './burst.ts';

const rule: BurstRule = { fills: 4, deltaUsd: 100_000, withinSeconds: 10, freezeSeconds: 30 };
const fold = (fills: readonly Acceptance[]): FillBurst =>
  fills.reduce((burst, fill) => recordAcceptance(burst, fill, rule), NO_ACCEPTANCES);
const fill = (second: number, side: 'buy' | 'sell' = 'buy', usd = 1_000): Acceptance => ({
  atMs: second * 1_000,
  side,
  usd,
});

test('the fifth acceptance on one side within ten seconds freezes for thirty', () => {
  expect(fold([0, 1, 2, 3].map((at) => fill(at))).frozenUntilMs).toBe(0);
  expect(fold([0, 1, 2, 3, 4].map((at) => fill(at)))).toEqual({ acceptances: [], frozenUntilMs: 34_000 });
});

test('acceptances on both sides, or spread over time, do not freeze', () => {
  expect(
    fold([0, 1, 2, 3, 4, 5, 6, 7].map((at) => fill(at, at % 2 === 0 ? 'buy' : 'sell'))).frozenUntilMs,
  ).toBe(0);
  expect(fold([0, 3, 6, 9, 12, 15].map((at) => fill(at))).frozenUntilMs).toBe(0);
});

test('a net change above the limit freezes, a round trip does not', () => {
  expect(fold([fill(0, 'sell', 60_000), fill(1, 'sell', 50_000)]).frozenUntilMs).toBe(31_000);
  expect(fold([fill(0, 'sell', 60_000), fill(1, 'buy', 60_000), fill(2, 'sell', 60_000)]).frozenUntilMs).toBe(
    0,
  );
});

test('memory stays bounded and a freeze is never shortened', () => {
  const fills = fc.array(
    fc.record({
      gap: fc.nat(3_000),
      side: fc.constantFrom<'buy' | 'sell'>('buy', 'sell'),
      usd: fc.integer({ min: 1, max: 40_000 }),
    }),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(fills, (steps) => {
      let atMs = 0;
      let burst = NO_ACCEPTANCES;
      for (const { gap, side, usd } of steps) {
        const next = recordAcceptance(burst, { atMs: (atMs += gap), side, usd }, rule);
        expect(next.acceptances.length).toBeLessThanOrEqual(2 * rule.fills);
        expect(next.frozenUntilMs).toBeGreaterThanOrEqual(burst.frozenUntilMs);
        burst = next;
      }
    }),
  );
});
