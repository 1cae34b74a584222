import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { distributionOf, drawdownOf, tailOf } from './distribution.ts';

const run = (pnlUsd: number, worstDrawdownUsd = 0) => ({ pnlUsd, worstDrawdownUsd });
const anyProfits = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), {
  minLength: 1,
  maxLength: 250,
});

describe('a distribution', () => {
  test('of five days is what a calculator says', () => {
    const of = distributionOf([run(30, 5), run(-10, 40), run(20, 0), run(0, 12), run(60, 8)], 1440);
    // Mean 100 / 5; squares of the distances 100 + 900 + 0 + 400 + 1600 = 3000, over 4 is 750.
    expect(of).toEqual({
      runs: 5,
      mean: 20,
      error: Math.sqrt(750) / Math.sqrt(5),
      deviation: Math.sqrt(750),
      sharpe: 20 / Math.sqrt(750),
      sharpeYear: (20 / Math.sqrt(750)) * Math.sqrt(365),
      worstDrawdown: 40,
      tail5: { value: -10, shortfall: -10 },
      tail1: { value: -10, shortfall: -10 },
      losing: 0.2,
    });
  });

  test('of shorter runs has more runs a year', () => {
    const runs = [run(1), run(3)];
    const [day, quarter] = [distributionOf(runs, 1440), distributionOf(runs, 360)];
    expect(quarter.sharpe).toBe(day.sharpe);
    expect(quarter.sharpeYear).toBeCloseTo(2 * (day.sharpeYear as number), 12);
  });

  test('of one run, or of equal runs, has no ratio', () => {
    expect(distributionOf([run(7)], 60)).toMatchObject({ error: null, deviation: null, sharpe: null });
    expect(distributionOf([run(0.1), run(0.1), run(0.1)], 60)).toMatchObject({
      error: 0,
      deviation: 0,
      sharpe: null,
      sharpeYear: null,
    });
    expect(() => distributionOf([], 60)).toThrow('at least one run');
  });

  test('does not depend on the order, and follows the unit of money', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1e6, max: 1e6 }), { minLength: 2, maxLength: 60 }),
        fc.constantFrom(2, 4, 1024),
        (profits, factor) => {
          const of = distributionOf(
            profits.map((each) => run(each)),
            240,
          );
          expect(
            distributionOf(
              profits.toReversed().map((each) => run(each)),
              240,
            ),
          ).toEqual(of);
          const scaled = distributionOf(
            profits.map((each) => run(each * factor)),
            240,
          );
          expect(scaled.mean).toBe(of.mean * factor);
          expect(scaled.sharpe).toBe(of.sharpe);
          expect(scaled.losing).toBe(of.losing);
          expect(scaled.tail5.shortfall).toBe(of.tail5.shortfall * factor);
        },
      ),
    );
  });
});

describe('a tail', () => {
  test('of a hundred profits is the worst, and the mean of the worst five', () => {
    const profits = Array.from({ length: 100 }, (_, at) => at - 10);
    expect(tailOf(profits, 5)).toEqual({ value: -6, shortfall: -8 });
    expect(tailOf(profits, 1)).toEqual({ value: -10, shortfall: -10 });
    expect(tailOf(profits, 100)).toEqual({ value: 89, shortfall: 39.5 });
  });

  test('counts the last run by the part of it that belongs to the worst', () => {
    // 5 % of thirty runs is one and a half: (-40 + 0.5 x -10) / 1.5 = -30.
    const profits = [-40, -10, ...Array.from({ length: 28 }, () => 5)];
    expect(tailOf(profits, 5)).toEqual({ value: -10, shortfall: -30 });
    // 5 % of 140 is exactly seven.
    expect(
      tailOf(
        Array.from({ length: 140 }, (_, at) => at),
        5,
      ),
    ).toEqual({ value: 6, shortfall: 3 });
  });

  test('is never better on average than at its edge, and worse the rarer it is', () => {
    fc.assert(
      fc.property(anyProfits, (profits) => {
        const [one, five, all] = [tailOf(profits, 1), tailOf(profits, 5), tailOf(profits, 100)];
        for (const { value, shortfall } of [one, five, all]) expect(shortfall).toBeLessThanOrEqual(value);
        expect(one.value).toBeLessThanOrEqual(five.value);
        expect(one.shortfall).toBeLessThanOrEqual(five.shortfall + 1e-6);
        expect(one.shortfall).toBeGreaterThanOrEqual(Math.min(...profits) - 1e-6);
        expect(all.value).toBe(Math.max(...profits));
      }),
    );
  });

  test('moves with a certain profit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1e6, max: 1e6 }), { minLength: 1 }),
        fc.integer({ min: -1e6, max: 1e6 }),
        (profits, more) => {
          const shifted = tailOf(
            profits.map((each) => each + more),
            5,
          );
          expect(shifted.value).toBe(tailOf(profits, 5).value + more);
          expect(shifted.shortfall).toBeCloseTo(tailOf(profits, 5).shortfall + more, 6);
        },
      ),
    );
  });
});

describe('a drawdown', () => {
  test.each([
    [[], 0],
    [[1, 2, 3], 0],
    [[-5, 10], 5],
    [[10, 4, 12, 3, 20], 9],
    [[10, 4, 12, 8, 20], 6],
  ])('of %j is %d', (profits, worst) => expect(drawdownOf(profits)).toBe(worst));

  test('is at least the fall to the end, and never negative', () => {
    fc.assert(
      fc.property(anyProfits, (profits) => {
        const worst = drawdownOf(profits);
        expect(worst).toBeGreaterThanOrEqual(0);
        expect(worst).toBeGreaterThanOrEqual(Math.max(0, ...profits) - (profits.at(-1) as number));
        expect(drawdownOf([...profits, ...profits.slice(-1)])).toBe(worst);
      }),
    );
  });
});
