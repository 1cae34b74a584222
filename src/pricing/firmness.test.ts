import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bisect, firmness, markup, winProbability } from './firmness.ts';
import { optionCost, type MidMotion } from './option.ts';

const curve = { alpha: -2, beta: 0.25, minEdgeBps: 1 };
const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const motion: fc.Arbitrary<MidMotion> = fc.record({ deviation: number(0.01, 200), jumps: number(0, 2), jumpBps: number(1, 100) });

test('the solution solves its equations, and halving finds the same', () => {
  fc.assert(
    fc.property(number(-50, 100), number(-20, 20), number(0, 5), motion, (cost, after, omega, moves) => {
      const { x, m, D } = firmness(cost, after, omega, curve, moves);
      expect(D).toBeCloseTo(cost + x + m + after, 9);
      expect(Math.abs(x - omega * optionCost(D, moves))).toBeLessThan(1e-9 * Math.max(1, x));
      expect(bisect(cost, after, omega, curve, moves).x).toBeCloseTo(x, 6);
    }),
  );
});

test('the markup is the best on the curve', () => {
  const profit = (delta: number, cost: number) => (delta - cost) * winProbability(delta, curve);
  for (const cost of [-5, 0, 3, 10, 30]) {
    const best = cost + markup(cost, { ...curve, minEdgeBps: 0 });
    for (const off of [-0.5, -0.01, 0.01, 0.5]) expect(profit(best, cost)).toBeGreaterThanOrEqual(profit(best + off, cost));
  }
});

test('a bps of cost is passed on in part: between nothing and all of it', () => {
  fc.assert(fc.property(number(-20, 40), (cost) => {
    const [low, high] = [cost, cost + 0.01].map((c) => c + markup(c, { ...curve, minEdgeBps: 0 })) as [number, number];
    return high > low && high - low < 0.01 + 1e-12;
  }));
});
