import { describe, expect, test } from 'vitest';
import { walkedImpact } from './hedge-book.ts';
import { normalCdf, normalPdf } from './special.ts';
import {
  adverseTerm,
  capitalTerm,
  confidenceTerm,
  impactTerm,
  inventoryTerm,
  rebalanceTerm,
  skewSlope,
} from './terms.ts';

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
  test('bids equal the closed form', () => {
    const bid = (sigma: number, arrival: number, q: number) =>
      (c1(0.01, 0.3) + ((2 * q + 1) / 2) * skewSlope(paper(sigma, arrival))).toFixed(6);
    expect([0, 10, -10, 20].map((q) => bid(0.3, 0.9, q))).toEqual([
      '3.312915',
      '3.991574',
      '2.634257',
      '4.670232',
    ]);
    expect([0, 10, -10, 20].map((q) => bid(1, 0.2, q))).toEqual([
      '3.518924',
      '8.317763',
      '-1.279915',
      '13.116602',
    ]);
  });
  test('parameters of Avellaneda and Stoikov', () => {
    expect(c1(0.1, 1.5)).toBeCloseTo(0.6453852114, 10);
    expect(skewSlope({ gamma: 0.1, sigma: 2, arrival: 140, decay: 1.5, xi: 0.1 })).toBeCloseTo(
      0.0517172161,
      10,
    );
  });
  test('xi -> 0 replaces the power by e', () => {
    expect(
      skewSlope({ gamma: 5e-4, sigma: (0.9 * 1e4) / Math.sqrt(31_536_000), arrival: 0.02, decay: 0.2 }),
    ).toBeCloseTo(0.660581574, 9);
    expect(skewSlope({ ...paper(1, 0.2), xi: 1e-7 })).toBeCloseTo(skewSlope({ ...paper(1, 0.2), xi: 0 }), 6);
  });
});

test('capital: 15 minutes and 7 days at 12 %', () => {
  expect(capitalTerm(0.12, 900).toFixed(4)).toBe('0.0342');
  expect(capitalTerm(0.12, 7 * 86_400).toFixed(2)).toBe('23.01');
});

test("winner's curse grows with the number of rivals and is zero without any", () => {
  expect([0, 1, 2, 3, 4, 5, 99].map((rivals) => confidenceTerm(1, rivals))).toEqual([
    0, 0, 0.5642, 0.8463, 1.0294, 1.163, 1.5388,
  ]);
});

test('its factors are the means of the largest of n normals: the integral of n z phi(z) Phi(z)^(n-1)', () => {
  for (const n of [2, 3, 4, 5, 6, 7, 8, 9, 10]) {
    let mean = 0;
    for (let z = -9; z < 9; z += 0.001) mean += n * z * normalPdf(z) * normalCdf(z) ** (n - 1) * 0.001;
    expect(confidenceTerm(1, n).toFixed(4)).toBe(mean.toFixed(4));
  }
});

test('skew uses the mean position, clipped to the band before the size counts', () => {
  const skew = (side: 1 | -1, q: number, sizeInBands = 0.125) =>
    inventoryTerm({ slopeAtBand: 13.211631483, side, q, sizeInBands });
  expect(skew(1, -0.25).toFixed(9)).toBe('-2.477180903');
  expect(skew(-1, 0.25)).toBe(skew(1, -0.25));
  expect(skew(1, 7)).toBe(skew(1, 1));
  expect(skew(1, 0)).toBeGreaterThan(0);
});

test('impact is the larger of the square-root law and the walked order book', () => {
  expect(impactTerm({ factor: 1, sigma: 0.9, size: 25_000, dailyVolume: 2e9 }).toFixed(9)).toBe(
    '1.665524723',
  );
  const bids = [
    { price: 2499, size: 4 },
    { price: 2498, size: 4 },
    { price: 2490, size: 100 },
  ];
  // 4 at 2499, 4 at 2498, 2 at 2490: 2496.8 on average, 12.8 bps below 2500.
  expect(walkedImpact(bids, 1, 10, 2500)).toBeCloseTo(12.8, 9);
  expect(walkedImpact(bids, 1, 2, 2500)).toBeCloseTo(4, 9);
  expect(walkedImpact([{ price: 2501, size: 8 }], -1, 8, 2500)).toBeCloseTo(4, 9);
  // The last level stands for what is not shown; a book better than the mid is no gift; nothing costs
  // nothing.
  expect(walkedImpact([{ price: 2499, size: 1 }], 1, 50, 2500)).toBeCloseTo(4, 9);
  expect(walkedImpact([{ price: 2501, size: 1 }], 1, 1, 2500)).toBe(0);
  expect(walkedImpact([], 1, 10, 2500)).toBe(0);
  expect(walkedImpact(bids, 1, 0, 2500)).toBe(0);
});

test('rebalancing: draining a short chain costs up to its transport, refilling it earns at most half', () => {
  expect(rebalanceTerm({ drained: { q: -1, costBps: 8 } })).toBe(8);
  expect(rebalanceTerm({ drained: { q: -0.6, costBps: 8 } })).toBeCloseTo(4, 12);
  expect(rebalanceTerm({ drained: { q: -0.2, costBps: 8 } })).toBe(0);
  expect(rebalanceTerm({ drained: { q: 0.9, costBps: 8 } })).toBe(0);
  expect(rebalanceTerm({ filled: { q: -2, costBps: 8 } })).toBe(-4);
  expect(rebalanceTerm({})).toBe(0);
  // From both sides at once: drains a chain that is short, fills another that is shorter.
  expect(rebalanceTerm({ drained: { q: -0.6, costBps: 8 }, filled: { q: -1, costBps: 6 } })).toBeCloseTo(
    4 - 3,
    12,
  );
});

test('toxicity: floor after averaging, shrunk to the tier, capped', () => {
  expect(adverseTerm({ meanBps: 0, trades: 0, tierMeanBps: 1.5 })).toBe(1.5);
  expect(adverseTerm({ meanBps: 10, trades: 30, tierMeanBps: 1.5 })).toBe(5.75);
  expect(adverseTerm({ meanBps: -9, trades: 300, tierMeanBps: 1.5 })).toBe(0);
  expect(adverseTerm({ meanBps: 90, trades: 3_000, tierMeanBps: 1.5 })).toBe(25);
});
