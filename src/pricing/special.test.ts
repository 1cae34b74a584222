import { describe, expect, test } from 'vitest';
import { bachelierCall, perRootSecond } from './option.ts';
import { lambertWExp, normalCdf, normalPdf } from './special.ts';

describe('Lambert W', () => {
  test.each([
    [0, 0.5671432904],
    [-1, 0.2784645428],
  ])('W(e^%s)', (y, w) => expect(lambertWExp(y)).toBeCloseTo(w, 10));
  test('w + ln w = y from -600 to 1e6', () => {
    for (const y of [-600, -100, -5, -1, -0.5, 0, 0.5, 1, 1.5, 3, 50, 1e3, 1e6])
      expect(Math.abs(lambertWExp(y) + Math.log(lambertWExp(y)) - y)).toBeLessThanOrEqual(
        1e-14 * Math.max(1, Math.abs(y)),
      );
  });
});

/** Call and put of Black and Scholes, to hold the distribution to textbook values. */
function blackScholes(S: number, K: number, r: number, sigma: number, T: number) {
  const d1 = (Math.log(S / K) + (r + (sigma * sigma) / 2) * T) / (sigma * Math.sqrt(T));
  const d2 = d1 - sigma * Math.sqrt(T);
  const call = S * normalCdf(d1) - K * Math.exp(-r * T) * normalCdf(d2);
  return { call, put: call - S + K * Math.exp(-r * T) };
}

describe('normal distribution', () => {
  test.each([
    ['Hull', [42, 40, 0.1, 0.2, 0.5], 4.7594223929, 0.8085993729],
    ['100 at the money', [100, 100, 0.05, 0.2, 1], 10.4505835722, 5.5735260223],
    ['Haug', [60, 65, 0.08, 0.3, 0.25], 2.1333684449, undefined],
  ] as const)('Black-Scholes: %s', (_name, [S, K, r, sigma, T], call, put) => {
    const value = blackScholes(S, K, r, sigma, T);
    expect(value.call).toBeCloseTo(call, 10);
    if (put !== undefined) expect(value.put).toBeCloseTo(put, 10);
  });
  test('tails, around and beyond the switch between the two forms', () => {
    expect(normalCdf(-7.0710678)).toBeCloseTo(7.687e-13, 15);
    expect(normalCdf(-7.08) / 7.2e-13).toBeCloseTo(1, 1);
    expect(normalCdf(-40)).toBe(0);
    expect(normalCdf(0)).toBeCloseTo(0.5, 15);
    for (const z of [0.3, 1, 2, 5]) expect(normalCdf(z) + normalCdf(-z)).toBeCloseTo(1, 15);
  });
});

describe('Bachelier', () => {
  // The model prints 2.246 for 100 %, 10 s; 0.3989 in place of 1/sqrt(2 pi) gives that, 2.24653 is right.
  test('zero spread, T = 5/10/30/60 s', () => {
    const cost = (sigma: number, seconds: number) =>
      bachelierCall(0, perRootSecond(sigma) * Math.sqrt(seconds)).toFixed(3);
    expect([5, 10, 30, 60].map((seconds) => cost(0.6, seconds))).toEqual([
      '0.953',
      '1.348',
      '2.335',
      '3.302',
    ]);
    expect([5, 10, 30, 60].map((seconds) => cost(1, seconds))).toEqual(['1.589', '2.247', '3.891', '5.503']);
  });
  test('decreases fast in d = D/S', () => {
    const values = [0, 0.5, 1, 1.5, 2, 3].map((d) => Number(bachelierCall(d, 1).toPrecision(5)));
    expect(values).toEqual([0.39894, 0.1978, 0.083315, 0.029307, 0.0084907, 0.00038215]);
  });
  test('break-even premium per S', () => {
    const breakEven = (omega: number) => {
      let [low, high] = [0, 10];
      for (let round = 0; round < 100; round++) {
        const d = (low + high) / 2;
        if (omega * (normalPdf(d) - d * normalCdf(-d)) > d) low = d;
        else high = d;
      }
      return low.toFixed(6);
    };
    expect([0.1, 0.25, 0.5, 1, 2, 5].map(breakEven)).toEqual([
      '0.038022',
      '0.089005',
      '0.161658',
      '0.276030',
      '0.436327',
      '0.706530',
    ]);
  });
  test('differs from Black-Scholes at sigma 90 %, T 60 s by the printed error', () => {
    const T = 60 / 31_536_000;
    const deviation = 0.9 * Math.sqrt(T);
    const off = (d: number) =>
      blackScholes(1, 1 + d * deviation, 0, 0.9, T).call / bachelierCall(d * deviation, deviation) - 1;
    expect(off(0)).toBeCloseTo(-6.4e-8, 9);
    expect([0.5, 1, 2, 3].map((d) => Number(off(d).toPrecision(3)))).toEqual([
      5.52e-4, 1.8e-3, 7.91e-3, 2.18e-2,
    ]);
  });
});
