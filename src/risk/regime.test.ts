/** The rule of wild markets: what trips, for how long, and that a calm market never does. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CALM_MARKET, look, type Regime, type SpikeRule } from './regime.ts';

const rule: SpikeRule = { sigmaTimes: 3, tickTimes: 6, calmSeconds: 30, againSeconds: 300, haltSeconds: 60 };
const calm = { wildness: 1, secondBps: 1 };

/** Mids one second apart. */
const walk = (mids: readonly number[], wildness: (at: number) => number = () => 1): Regime[] => {
  const seen: Regime[] = [];
  for (const [at, mid] of mids.entries())
    seen.push(look(seen.at(-1) ?? CALM_MARKET, { ...calm, mid, wildness: wildness(at) }, at * 1_000, rule));
  return seen;
};
const bps = (of: number) => 100 * Math.exp(of / 1e4);

describe('one move', () => {
  test.each([
    [5.9, 'calm'],
    [6.1, 'wild'],
    [-6.1, 'wild'],
  ] as const)('of %s standard deviations of a second: %s', (size, mood) => {
    expect(walk([100, bps(size)]).at(-1)?.mood).toBe(mood);
  });

  test('counts whole however often we look in between', () => {
    let regime = look(CALM_MARKET, { ...calm, mid: 100 }, 0, rule);
    for (let at = 1; at <= 4; at++) regime = look(regime, { ...calm, mid: bps(at * 1.8) }, at * 200, rule);
    expect(regime.mood).toBe('wild');
  });

  test('after a gap in the prices is measured against the gap', () => {
    const start = look(CALM_MARKET, { ...calm, mid: 100 }, 0, rule);
    expect(look(start, { ...calm, mid: bps(50) }, 100_000, rule).mood).toBe('calm');
    expect(look(start, { ...calm, mid: bps(61) }, 100_000, rule).mood).toBe('wild');
  });
});

test('the last minute above three times the day trips once, and stays careful while it lasts and 30 seconds longer', () => {
  const moods = walk(
    Array.from({ length: 80 }, () => 100),
    (at) => (at >= 10 && at < 40 ? 3.1 : 2.9),
  ).map(({ mood }) => mood);
  expect(moods.slice(0, 10).every((mood) => mood === 'calm')).toBe(true);
  expect(moods.slice(10, 69).every((mood) => mood === 'wild')).toBe(true);
  expect(moods[69]).toBe('calm');
});

test('a second trip soon stops for a minute, one much later does not', () => {
  const twice = walk([100, bps(7), bps(14), ...Array.from({ length: 61 }, () => bps(14))]);
  expect(twice[1]?.mood).toBe('wild');
  expect(twice[2]?.mood).toBe('halted');
  expect(twice[61]?.mood).toBe('halted');
  expect(twice[62]?.mood).toBe('calm');
  const apart = walk([100, bps(7), ...Array.from({ length: 301 }, () => bps(7)), bps(14)]);
  expect(apart.at(-1)?.mood).toBe('wild');
});

test('moves within the limit never trip, whatever their order', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: -5.99, max: 5.99, noNaN: true }), { maxLength: 60 }), (moves) => {
      let at = 0;
      const mids = moves.map((move) => bps((at += move)));
      expect(walk(mids.length === 0 ? [100] : [100, ...mids]).every(({ mood }) => mood === 'calm')).toBe(
        true,
      );
    }),
  );
});

test('a halt never ends sooner for tripping more', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -30, max: 30, noNaN: true }), { minLength: 2, maxLength: 80 }),
      (moves) => {
        let at = 0;
        const seen = walk([100, ...moves.map((move) => bps((at += move)))]);
        for (const [i, { mood, untilMs }] of seen.entries()) {
          const next = seen[i + 1];
          if (mood === 'halted' && next !== undefined && (i + 1) * 1_000 < untilMs)
            expect([next.mood, next.untilMs >= untilMs]).toEqual(['halted', true]);
        }
      },
    ),
  );
});
