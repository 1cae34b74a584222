/**
 * The small rules: loss by a jump and drawdown, each with its numbers and what must hold for all numbers.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DrawdownRule, judged, lossOf, moved, rolled } from './drawdown.ts';
import { gapLoss, jumpOf } from './gap-loss.ts';

describe('gap loss', () => {
  const rule = { deviations: 4, leastBps: 100 };

  test.each([
    [12.5, 100],
    [25, 100],
    [40, 160],
  ])('one deviation of %d bps over the longest life: a jump of %d bps', (deviation, jump) => {
    expect(jumpOf(deviation, rule)).toBe(jump);
  });

  test('the part of the notional that the spread does not cover, rounded up', () => {
    // 25,000 USD at a spread of 10 bps against a jump of 100: 90 bps are 225 USD.
    expect(gapLoss(25_000_000_000n, 10, 100)).toBe(225_000_000n);
    expect(gapLoss(1n, 10, 100)).toBe(1n);
    expect(gapLoss(25_000_000_000n, 100, 100)).toBe(0n);
    expect(gapLoss(25_000_000_000n, 130, 100)).toBe(0n);
    expect(gapLoss(25_000_000_000n, -5, 100)).toBe(262_500_000n);
  });

  test('at least the exact value, at most one unit and a rounding more; rises with size, falls with spread', () => {
    const bps = fc.integer({ min: 0, max: 3_000_000 }).map((n) => n / 1e4);
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 14n }), bps, bps, (notional, spread, jump) => {
        const loss = gapLoss(notional, spread, jump);
        const exact = (Number(notional) * Math.max(0, jump - spread)) / 1e4;
        expect(Number(loss)).toBeGreaterThanOrEqual(exact * (1 - 1e-9));
        expect(Number(loss)).toBeLessThanOrEqual(exact * (1 + 1e-9) + 1 + Number(notional) * 1e-8);
        expect(gapLoss(notional + 1n, spread, jump)).toBeGreaterThanOrEqual(loss);
        expect(gapLoss(notional, spread + 1, jump)).toBeLessThanOrEqual(loss);
      }),
    );
  });
});

describe('drawdown', () => {
  const rule: DrawdownRule = { hourBps: 50, dayBps: 100, killTimes: 2 };
  const HOUR = 3_600_000;
  const start = rolled(undefined, 1_000_000, 5 * HOUR);
  const verdict = (nav: number, marks = start) => judged(marks, nav, rule).verdict;

  test.each([
    [1_001_000, 'fine'],
    [995_001, 'fine'],
    [995_000, 'cut'],
    [990_001, 'cut'],
    [990_000, 'kill'],
  ] as const)('an hour that began at a million and is at %i: %s', (nav, is) => {
    expect(verdict(nav)).toBe(is);
  });

  test('a new hour starts a new measurement, the day continues', () => {
    const later = rolled(start, 995_500, 6 * HOUR);
    expect(lossOf(later, 991_500)).toMatchObject({ dayBps: 85 });
    expect(verdict(991_500, later)).toBe('fine');
    expect(verdict(990_000, later)).toBe('cut');
    expect(verdict(990_000, rolled(later, 990_000, 29 * HOUR))).toBe('fine');
  });

  test('deposits and withdrawals are neither gains nor losses', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -400_000, max: 400_000 }),
        fc.integer({ min: 900_000, max: 1_100_000 }),
        (flow, nav) => {
          const [hour, with_] = [
            lossOf(start, nav).hourBps * 1_000_000,
            lossOf(moved(start, flow), nav + flow).hourBps * (1_000_000 + flow),
          ];
          expect(with_).toBeCloseTo(hour, 0);
        },
      ),
    );
  });

  test('sizes are restored only when half of the limit is free again', () => {
    const { marks } = judged(start, 994_000, rule);
    expect(judged(marks, 996_000, rule).verdict).toBe('cut');
    expect(judged(marks, 997_600, rule).verdict).toBe('fine');
    expect(verdict(996_000)).toBe('fine');
  });
});
