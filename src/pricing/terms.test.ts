import { describe, expect, test } from 'vitest';
import { adverseTerm, capitalTerm, confidenceTerm, rebalanceTerm, skewSlope } from './terms.ts';

describe('GLFT 2013', () => {
  const c1 = (gamma: number, k: number) => Math.log(1 + gamma / k) / gamma;
  const paper = (sigma: number, arrival: number) => ({ gamma: 0.01, sigma, arrival, decay: 0.3, xi: 0.01 });
  test.each([
    [0.3, 0.9, 0.0678658325, 6.6258303971],
    [1, 0.2, 0.4798839039, 7.0378484685],
  ])('sigma %s, A %s', (sigma, arrival, c2, spread) => {
    expect(skewSlope(paper(sigma, arrival))).toBeCloseTo(c2, 10);
    expect(2 * c1(0.01, 0.3) + skewSlope(paper(sigma, arrival))).toBeCloseTo(spread, 10);
    expect(c1(0.01, 0.3)).toBeCloseTo(3.2789822823, 10);
  });
  test('bids by the closed form', () => {
    const bid = (sigma: number, arrival: number, q: number) => (c1(0.01, 0.3) + ((2 * q + 1) / 2) * skewSlope(paper(sigma, arrival))).toFixed(6);
    expect([0, 10, -10, 20].map((q) => bid(0.3, 0.9, q))).toEqual(['3.312915', '3.991574', '2.634257', '4.670232']);
    expect([0, 10, -10, 20].map((q) => bid(1, 0.2, q))).toEqual(['3.518924', '8.317763', '-1.279915', '13.116602']);
  });
  test('parameters of Avellaneda and Stoikov', () => {
    expect(c1(0.1, 1.5)).toBeCloseTo(0.6453852114, 10);
    expect(skewSlope({ gamma: 0.1, sigma: 2, arrival: 140, decay: 1.5, xi: 0.1 })).toBeCloseTo(0.0517172161, 10);
  });
  test('xi -> 0 puts e in place of the power', () => {
    expect(skewSlope({ gamma: 5e-4, sigma: (0.9 * 1e4) / Math.sqrt(31_536_000), arrival: 0.02, decay: 0.2 })).toBeCloseTo(0.660581574, 9);
    expect(skewSlope({ ...paper(1, 0.2), xi: 1e-7 })).toBeCloseTo(skewSlope({ ...paper(1, 0.2), xi: 0 }), 6);
  });
});

test('capital: 15 minutes and 7 days at 12 %', () => {
  expect(capitalTerm(0.12, 900).toFixed(4)).toBe('0.0342');
  expect(capitalTerm(0.12, 7 * 86_400).toFixed(2)).toBe('23.01');
});

test("winner's curse grows with rivals; alone there is none", () => {
  expect([0, 1, 2, 3, 4, 5, 99].map((rivals) => confidenceTerm(1, rivals))).toEqual([0, 0, 0.5642, 0.8463, 1.0294, 1.163, 1.5388]);
});

test('rebalancing: draining a short chain costs up to its transport, refilling one earns at most half', () => {
  expect(rebalanceTerm({ drained: { q: -1, costBps: 8 } })).toBe(8);
  expect(rebalanceTerm({ drained: { q: -0.6, costBps: 8 } })).toBeCloseTo(4, 12);
  expect(rebalanceTerm({ drained: { q: -0.2, costBps: 8 } })).toBe(0);
  expect(rebalanceTerm({ drained: { q: 0.9, costBps: 8 } })).toBe(0);
  expect(rebalanceTerm({ filled: { q: -2, costBps: 8 } })).toBe(-4);
  expect(rebalanceTerm({})).toBe(0);
});

test('toxicity: floor after averaging, shrunk to the tier, capped', () => {
  expect(adverseTerm({ meanBps: 0, trades: 0, tierMeanBps: 1.5 })).toBe(1.5);
  expect(adverseTerm({ meanBps: 10, trades: 30, tierMeanBps: 1.5 })).toBe(5.75);
  expect(adverseTerm({ meanBps: -9, trades: 300, tierMeanBps: 1.5 })).toBe(0);
  expect(adverseTerm({ meanBps: 90, trades: 3_000, tierMeanBps: 1.5 })).toBe(25);
});
