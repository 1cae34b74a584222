import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pairedDifference, studentQuantile } from './paired.ts';

describe('a paired difference', () => {
  test('of five pairs is what a calculator says', () => {
    // Differences 2, 4, 4, 4, 6: mean 4, squares 4 + 0 + 0 + 0 + 4, variance 2, error sqrt(2 / 5).
    const { mean, interval } = pairedDifference([1, 2, 3, 4, 5], [3, 6, 7, 8, 11]);
    expect(mean).toBe(4);
    expect(interval?.[0]).toBeCloseTo(4 - 2.7764451052 * Math.sqrt(0.4), 9);
    expect(interval?.[1]).toBeCloseTo(4 + 2.7764451052 * Math.sqrt(0.4), 9);
  });

  test('of a variant and itself, or moved by a constant, has no width', () => {
    expect(pairedDifference([0.1, 7, -3], [0.1, 7, -3])).toEqual({ mean: 0, interval: [0, 0] });
    expect(pairedDifference([1, 7, -3], [3, 9, -1])).toEqual({ mean: 2, interval: [2, 2] });
    expect(pairedDifference([1], [3])).toEqual({ mean: 2, interval: null });
    expect(() => pairedDifference([1], [])).toThrow('equally long');
    expect(() => pairedDifference([], [])).toThrow('equally long');
  });

  test('changes its sign when the variants change places', () => {
    const pairs = fc.array(
      fc.tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.integer({ min: -1e6, max: 1e6 })),
      { minLength: 2 },
    );
    fc.assert(
      fc.property(pairs, (values) => {
        const [first, second] = [values.map(([a]) => a), values.map(([, b]) => b)];
        const [there, back] = [pairedDifference(first, second), pairedDifference(second, first)];
        expect(back.mean).toBe(-there.mean || 0);
        const [low, high] = there.interval as readonly [number, number];
        expect(low).toBeLessThanOrEqual(there.mean);
        expect(high).toBeGreaterThanOrEqual(there.mean);
        expect(back.interval?.[0]).toBe(-high || 0);
      }),
    );
  });
});

describe("Student's quantile", () => {
  // Published tables, three decimals.
  test.each([
    [1, 12.706],
    [2, 4.303],
    [3, 3.182],
    [4, 2.776],
    [5, 2.571],
    [9, 2.262],
    [10, 2.228],
    [30, 2.042],
    [120, 1.98],
  ])('for %d degrees of freedom is %d at 97.5 %', (freedom, printed) =>
    expect(studentQuantile(0.975, freedom)).toBeCloseTo(printed, 3),
  );
});
