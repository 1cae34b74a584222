/**
 * Numbers that the model prints beside its formulas, where no other test has them: what the option costs, how
 * required spread grows with time, and what the neighbouring models would make of it. Held as printed.
 */

import { describe, expect, test } from 'vitest';
import { bachelierCall, perRootSecond } from './option.ts';
import { DEFAULT_PARAMS } from './params.ts';
import { normalCdf, normalPdf } from './special.ts';
import { skewSlope } from './terms.ts';
import { decay } from './volatility.ts';

const S = (sigma: number, seconds: number) => perRootSecond(sigma) * Math.sqrt(seconds);

describe('1.3: spread and time', () => {
  test('at zero spread the option costs S / sqrt(2 pi), 0.3989 of S', () => {
    expect((1 / Math.sqrt(2 * Math.PI)).toFixed(4)).toBe('0.3989');
    for (const [sigma, seconds] of [
      [0.6, 5],
      [1, 60],
    ] as const)
      expect(bachelierCall(0, S(sigma, seconds))).toBeCloseTo(S(sigma, seconds) / Math.sqrt(2 * Math.PI), 12);
  });

  /** x = omega * C(x), with no spread but the premium. */
  function breakEven(omega: number, deviation: number): number {
    let [low, high] = [0, 10 * deviation];
    for (let round = 0; round < 200; round++) {
      const x = (low + high) / 2;
      if (omega * bachelierCall(x, deviation) > x) low = x;
      else high = x;
    }
    return low;
  }
  test.each([
    [0.1, '0.038022'],
    [0.25, '0.089005'],
    [0.5, '0.161658'],
    [1, '0.276030'],
    [2, '0.436327'],
    [5, '0.706530'],
  ])('omega %s: d* = %s', (omega, d) => {
    expect(breakEven(omega, 1).toFixed(6)).toBe(d);
    // d* = omega * (phi - d * Phi(-d)) says the same.
    expect(omega * (normalPdf(Number(d)) - Number(d) * normalCdf(-Number(d)))).toBeCloseTo(Number(d), 5);
  });
  test('the required spread scales with the root of time: four times the time, twice the premium', () => {
    for (const seconds of [5, 15, 60])
      expect(breakEven(0.25, S(0.9, 4 * seconds))).toBeCloseTo(2 * breakEven(0.25, S(0.9, seconds)), 9);
  });
  test('no finite spread suffices when every taker holds an option', () => {
    expect(breakEven(1e6, 1)).toBeGreaterThan(4);
    expect(breakEven(1e12, 1)).toBeGreaterThan(breakEven(1e6, 1) + 1.5);
  });

  test('LVR: probability of an arbitrage per block, 1 / (1 + sqrt(2 lambda) * fee / sigma)', () => {
    const lambda = 86_400 / 12;
    const chance = (feeBps: number) => 1 / (1 + (Math.sqrt(2 * lambda) * feeBps) / 1e4 / 0.05);
    expect(chance(30).toFixed(5)).toBe('0.12195');
    expect(chance(5).toFixed(5)).toBe('0.45455');
  });
});

describe('1.2 and 5.2', () => {
  test('EWMA: v and sigma_s after 60 steps', () => {
    let v = 0;
    for (let step = 0; step < 60; step++) v = decay(v, 1, 1, 60);
    expect(v.toFixed(10)).toBe('0.6321205588');
    // Printed as 0.7950600977, which is not the root of the line above: 0.79506009762...
    expect(Math.sqrt(v).toFixed(10)).toBe('0.7950600976');
  });
  test('slope per unit of the worked example, inside and at the edge of the band', () => {
    const slope = skewSlope({
      gamma: DEFAULT_PARAMS.gamma,
      sigma: perRootSecond(0.9),
      arrival: DEFAULT_PARAMS.arrival,
      decay: DEFAULT_PARAMS.decay,
    });
    expect(slope.toFixed(9)).toBe('0.660581574');
    expect(((DEFAULT_PARAMS.halfBand / DEFAULT_PARAMS.unit) * slope).toFixed(9)).toBe('13.211631483');
    expect(S(0.9, 61).toFixed(9)).toBe('12.517111575');
  });
  test('GLFT: the general form for orders of size delta, and an adverse move per fill', () => {
    // Guéant 2017: sqrt(gamma sigma² / (2 A delta k) * (1 + xi delta / k)^(k / (xi delta) + 1)).
    const [gamma, sigma, arrival, k, size, xi] = [0.01, 0.3, 0.9, 0.3, 4, 0.01];
    expect(skewSlope({ gamma, sigma, arrival, decay: k, size, xi })).toBeCloseTo(
      Math.sqrt(
        ((gamma * sigma ** 2) / (2 * arrival * size * k)) * (1 + (xi * size) / k) ** (k / (xi * size) + 1),
      ),
      12,
    );
    expect(skewSlope({ gamma, sigma, arrival, decay: k, size: 1, xi: gamma })).toBeCloseTo(0.0678658325, 10);
  });
});
