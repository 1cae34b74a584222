/** The volatility regime: what trips it, for how long, and that a calm market never does. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CALM_MARKET, updateRegime, type Regime, type SpikeRule } from './regime.ts';

const rule: SpikeRule = { sigmaTimes: 3, tickTimes: 6, calmSeconds: 30, againSeconds: 300, haltSeconds: 60 };
const calm = { volatilityRatio: 1, secondBps: 1 };

/** Mids one second apart. */
const walk = (mids: readonly number[], volatilityRatio: (at: number) => number = () => 1): Regime[] => {
  const seen: Regime[] = [];
  for (const [at, mid] of mids.entries())
    seen.push(
      updateRegime(
        seen.at(-1) ?? CALM_MARKET,
        { ...calm, mid, volatilityRatio: volatilityRatio(at) },
        at * 1_000,
        rule,
      ),
    );
  return seen;
};
const bps = (of: number) => 100 * Math.exp(of / 1e4);

describe('a single move', () => {
  test.each([
    [5.9, 'calm'],
    [6.1, 'elevated'],
    [-6.1, 'elevated'],
  ] as const)('of %s standard deviations of a second: %s', (size, level) => {
    expect(walk([100, bps(size)]).at(-1)?.level).toBe(level);
  });

  test('counts in full however often the price is sampled', () => {
    let regime = updateRegime(CALM_MARKET, { ...calm, mid: 100 }, 0, rule);
    for (let at = 1; at <= 4; at++)
      regime = updateRegime(regime, { ...calm, mid: bps(at * 1.8) }, at * 200, rule);
    expect(regime.level).toBe('elevated');
  });

  test("after a gap in prices is compared with the gap's length", () => {
    const start = updateRegime(CALM_MARKET, { ...calm, mid: 100 }, 0, rule);
    expect(updateRegime(start, { ...calm, mid: bps(50) }, 100_000, rule).level).toBe('calm');
    expect(updateRegime(start, { ...calm, mid: bps(61) }, 100_000, rule).level).toBe('elevated');
  });
});

test('a minute above three times the day trips once, and stays elevated while it lasts and 30 seconds longer', () => {
  const levels = walk(
    Array.from({ length: 80 }, () => 100),
    (at) => (at >= 10 && at < 40 ? 3.1 : 2.9),
  ).map(({ level }) => level);
  expect(levels.slice(0, 10).every((level) => level === 'calm')).toBe(true);
  expect(levels.slice(10, 69).every((level) => level === 'elevated')).toBe(true);
  expect(levels[69]).toBe('calm');
});

test('a second trip shortly after stops for a minute, a later one does not', () => {
  const twice = walk([100, bps(7), bps(14), ...Array.from({ length: 61 }, () => bps(14))]);
  expect(twice[1]?.level).toBe('elevated');
  expect(twice[2]?.level).toBe('stressed');
  expect(twice[61]?.level).toBe('stressed');
  expect(twice[62]?.level).toBe('calm');
  const apart = walk([100, bps(7), ...Array.from({ length: 301 }, () => bps(7)), bps(14)]);
  expect(apart.at(-1)?.level).toBe('elevated');
});

test('moves within the limit never trip, in any order', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: -5.99, max: 5.99, noNaN: true }), { maxLength: 60 }), (moves) => {
      let at = 0;
      const mids = moves.map((move) => bps((at += move)));
      expect(walk(mids.length === 0 ? [100] : [100, ...mids]).every(({ level }) => level === 'calm')).toBe(
        true,
      );
    }),
  );
});

test('another trip never shortens a stop', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -30, max: 30, noNaN: true }), { minLength: 2, maxLength: 80 }),
      (moves) => {
        let at = 0;
        const seen = walk([100, ...moves.map((move) => bps((at += move)))]);
        for (const [i, { level, untilMs }] of seen.entries()) {
          const next = seen[i + 1];
          if (level === 'stressed' && next !== undefined && (i + 1) * 1_000 < untilMs)
            expect([next.level, next.untilMs >= untilMs]).toEqual(['stressed', true]);
        }
      },
    ),
  );
});
