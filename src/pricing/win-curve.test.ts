import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { winProbability } from './firmness-premium.ts';
import { type Curve, type CurveFit, exploration, learn, sizeBucket, startFit, trusted } from './win-curve.ts';

/** A market of its own: uniform numbers from a seed (mulberry32). */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const configured: Curve = { alpha: -2, beta: 0.25 };

/** Quotes between 3 and 15 bps into a market with this curve; its best alternative R is logistic. */
function played(
  truth: Curve,
  {
    count,
    seed,
    start = startFit(configured),
    tells = false,
    kept = 1,
  }: { count: number; seed: number; start?: CurveFit; tells?: boolean; kept?: number },
): CurveFit {
  const roll = dice(seed);
  let fit = start;
  for (let n = 0; n < count; n++) {
    const delta = 3 + 12 * roll();
    const u = roll();
    const rival = (Math.log((1 - u) / u) - truth.alpha) / truth.beta;
    fit = learn(
      fit,
      rival > delta ? { delta, won: true } : { delta, won: false, ...(tells && { winnerDelta: rival }) },
      kept,
    );
  }
  return fit;
}

describe('recovers the simulated market', () => {
  const truths: Curve[] = [
    { alpha: -2, beta: 0.25 },
    { alpha: -4, beta: 0.4 },
    { alpha: -1, beta: 0.2 },
    { alpha: -6, beta: 0.8 },
  ];
  test.each(truths)('%o, from wins and losses alone', (truth) => {
    for (const seed of [1, 2, 3]) {
      const fit = played(truth, { count: 20_000, seed });
      expect(Math.abs(fit.beta / truth.beta - 1)).toBeLessThan(0.06);
      // What pricing wants of it: the spread that half of all takers take, and win rates at quoted spreads.
      expect(Math.abs(-fit.alpha / fit.beta + truth.alpha / truth.beta)).toBeLessThan(0.25);
      for (const delta of [4, 8, 12])
        expect(Math.abs(winProbability(delta, fit) - winProbability(delta, truth))).toBeLessThan(0.02);
      expect(fit.won + fit.lost).toBe(20_000);
    }
  });
  test('the true curve lies within three of its standard errors', () => {
    const truth = { alpha: -4, beta: 0.4 };
    for (let seed = 10; seed < 20; seed++) {
      const fit = played(truth, { count: 5_000, seed });
      const determinant = fit.aa * fit.bb - fit.ab * fit.ab;
      expect(Math.abs(fit.beta - truth.beta)).toBeLessThan(3 * Math.sqrt(fit.aa / determinant));
      expect(Math.abs(fit.alpha - truth.alpha)).toBeLessThan(3 * Math.sqrt(fit.bb / determinant));
    }
  });
  test('learns faster when the venue tells the winning price', () => {
    const truth = { alpha: -4, beta: 0.4 };
    const error = (tells: boolean) =>
      [1, 2, 3, 4, 5, 6, 7, 8].reduce(
        (sum, seed) => sum + Math.abs(played(truth, { count: 600, seed, tells }).beta - truth.beta),
        0,
      ) / 8;
    expect(error(true)).toBeLessThan(error(false));
    expect(
      Math.abs(played(truth, { count: 20_000, seed: 4, tells: true }).beta / truth.beta - 1),
    ).toBeLessThan(0.05);
  });
  test('follows a market that changes', () => {
    const before = played({ alpha: -2, beta: 0.25 }, { count: 10_000, seed: 5, kept: 0.999 });
    const half = (fit: Curve) => -fit.alpha / fit.beta;
    const after = (kept: number) =>
      half(played({ alpha: -4.8, beta: 0.4 }, { count: 3_000, seed: 6, start: before, kept }));
    expect(Math.abs(after(0.999) - 12)).toBeLessThan(0.75);
    expect(Math.abs(after(1) - 12)).toBeGreaterThan(Math.abs(after(0.999) - 12));
  });
});

test('the fit stays a valid curve for any data', () => {
  const outcome = fc.record({
    delta: fc.double({ min: -100, max: 400, noNaN: true }),
    won: fc.boolean(),
    winnerDelta: fc.option(fc.double({ min: -100, max: 400, noNaN: true }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(outcome, { maxLength: 300 }), fc.constantFrom(1, 0.9), (outcomes, kept) => {
      const fit = outcomes.reduce<CurveFit>(
        (at, { delta, won, winnerDelta }) =>
          learn(at, { delta, won, ...(winnerDelta !== undefined && { winnerDelta }) }, kept),
        startFit(configured),
      );
      expect(fit.beta).toBeGreaterThanOrEqual(0.05);
      expect(fit.beta).toBeLessThanOrEqual(2);
      expect(Number.isFinite(fit.alpha)).toBe(true);
      expect(fit.aa * fit.bb).toBeGreaterThan(fit.ab * fit.ab);
    }),
  );
});

describe('trust', () => {
  const trust = { minOutcomes: 200, maxShiftBps: 4 };
  test('uses nothing before it has enough of both outcomes', () => {
    expect(trusted(startFit(configured), configured, trust)).toBeUndefined();
    expect(trusted(played(configured, { count: 199, seed: 1 }), configured, trust)).toBeUndefined();
    expect(trusted(played(configured, { count: 200, seed: 1 }), configured, trust)).toBeDefined();
    expect(trusted({ ...startFit(configured), won: 9, lost: 1_000 }, configured, trust)).toBeUndefined();
  });
  test('a taker that asks often and never accepts moves the price only by a limited amount', () => {
    let fit = played(configured, { count: 1_000, seed: 1 });
    for (let n = 0; n < 50_000; n++) fit = learn(fit, { delta: 6, won: false });
    const curve = trusted(fit, configured, trust);
    expect(-(curve?.alpha ?? 0) / (curve?.beta ?? 1)).toBeCloseTo(8 - 4, 9);
    expect(curve?.beta).toBeGreaterThanOrEqual(0.125);
    expect(curve?.beta).toBeLessThanOrEqual(0.5);
  });
});

test('sizes', () =>
  expect([0, 999.99, 1_000, 9_999, 10_000, 1e5, 1e9].map(sizeBucket)).toEqual([0, 0, 1, 1, 2, 3, 3]));

test('exploration: the configured share of quotes, up as often as down, the same for the same key', () => {
  const noises = Array.from({ length: 40_000 }, (_, n) => exploration(`seed|${n}`, { share: 0.05, bps: 1 }));
  const [up, down] = [
    noises.filter((noise) => noise === 1).length,
    noises.filter((noise) => noise === -1).length,
  ];
  expect(up + down + noises.filter((noise) => noise === 0).length).toBe(40_000);
  // 2,000 expected, 44 is one standard deviation.
  expect(Math.abs(up + down - 2_000)).toBeLessThan(150);
  expect(Math.abs(up - down)).toBeLessThan(150);
  expect(exploration('seed|17', { share: 0.05, bps: 1 })).toBe(noises[17]);
  expect(
    Array.from({ length: 1_000 }, (_, n) => exploration(`${n}`, { share: 0, bps: 1 })).every(
      (noise) => noise === 0,
    ),
  ).toBe(true);
  expect(
    Array.from({ length: 1_000 }, (_, n) => exploration(`${n}`, { share: 1, bps: 1 })).every(
      (noise) => noise !== 0,
    ),
  ).toBe(true);
});
