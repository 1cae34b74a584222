import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bisect, firmness, markup, winProbability } from './firmness-premium.ts';
import { optionCost, optionSlope, type MidMotion } from './option.ts';

const curve = { alpha: -2, beta: 0.25, minEdgeBps: 1 };
const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const motion: fc.Arbitrary<MidMotion> = fc.record({
  deviation: number(0.01, 200),
  jumps: number(0, 2),
  jumpBps: number(1, 100),
});

test("the solution solves its equations and equals bisection's", () => {
  fc.assert(
    fc.property(number(-50, 100), number(-20, 20), number(0, 5), motion, (cost, after, omega, moves) => {
      const { x, m, D } = firmness(cost, after, omega, curve, moves);
      expect(D).toBeCloseTo(cost + x + m + after, 9);
      expect(Math.abs(x - omega * optionCost(D, moves))).toBeLessThan(1e-9 * Math.max(1, x));
      expect(bisect(cost, after, omega, curve, moves).x).toBeCloseTo(x, 6);
    }),
  );
});

test('the markup is the best on the win curve', () => {
  const profit = (delta: number, cost: number) => (delta - cost) * winProbability(delta, curve);
  for (const cost of [-5, 0, 3, 10, 30]) {
    const best = cost + markup(cost, { ...curve, minEdgeBps: 0 });
    for (const off of [-0.5, -0.01, 0.01, 0.5])
      expect(profit(best, cost)).toBeGreaterThanOrEqual(profit(best + off, cost));
  }
});

test('between none and all of one bps of cost passes to the taker', () => {
  fc.assert(
    fc.property(number(-20, 40), (cost) => {
      const [low, high] = [cost, cost + 0.01].map((c) => c + markup(c, { ...curve, minEdgeBps: 0 })) as [
        number,
        number,
      ];
      return high > low && high - low < 0.01 + 1e-12;
    }),
  );
});

describe('the worked example', () => {
  const [cost, omega, moves] = [
    1.870369899 + 2,
    0.25,
    { deviation: 12.517111575, jumps: 61 / 3600, jumpBps: 30 },
  ] as const;

  test("fixed-point iteration needs nine rounds and finds Newton's solution", () => {
    let [x, rounds, moved] = [0, 0, 1];
    for (; moved >= 1e-12; rounds++) {
      const next = omega * optionCost(cost + x + markup(cost + x, curve), moves);
      moved = Math.abs(next - x);
      x = next;
    }
    expect(rounds).toBe(9);
    expect(firmness(cost, 0, omega, curve, moves).x).toBeCloseTo(x, 12);
    expect(x.toFixed(9)).toBe('0.398880980');
  });

  test('the slope is below omega * (Phi(-D/S) + jumps) / (1 + W), so iteration converges', () => {
    const { x, m, D } = firmness(cost, 0, omega, curve, moves);
    const step = (at: number) => omega * optionCost(cost + at + markup(cost + at, curve), moves);
    const slope = (step(x + 1e-6) - step(x - 1e-6)) / 2e-6;
    expect(-slope).toBeCloseTo((omega * optionSlope(D, moves)) / (curve.beta * m), 6);
    expect(Math.abs(slope)).toBeLessThan(omega);
  });
});

test("the option's slope is the derivative of its value", () => {
  fc.assert(
    fc.property(number(-60, 120), motion, (strike, moves) => {
      const step = 1e-4 * Math.max(1, moves.deviation);
      if (Math.abs(strike) < 2 * step) return;
      expect((optionCost(strike - step, moves) - optionCost(strike + step, moves)) / (2 * step)).toBeCloseTo(
        optionSlope(strike, moves),
        4,
      );
    }),
  );
});
