/** The token bucket and the count of a second, with their numbers and what must hold for all numbers. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countPerSecond, deductTokens, fullBucket, takeToken } from './rate.ts';

describe('token bucket', () => {
  const rule = { perSecond: 10, burst: 5 };

  test('allows a burst, then ten a second', () => {
    const tokens = fullBucket(rule, 0);
    const asked = (at: number, count: number) =>
      Array.from({ length: count }, () => takeToken(tokens, at, rule)).filter(Boolean).length;
    expect(asked(0, 20)).toBe(5);
    expect(asked(100, 20)).toBe(1);
    expect(asked(1_100, 20)).toBe(5);
  });

  test('never exceeds burst and rate, for any clock', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -500, max: 500 }), { maxLength: 300 }), (gaps) => {
        const tokens = fullBucket(rule, 0);
        let [now, latest, passed] = [0, 0, 0];
        for (const gap of gaps) {
          now = Math.max(0, now + gap);
          latest = Math.max(latest, now);
          if (takeToken(tokens, now, rule)) passed += 1;
          expect(passed).toBeLessThanOrEqual(rule.burst + (latest / 1000) * rule.perSecond + 1e-6);
        }
      }),
    );
  });

  test('equals a bucket of integers that refills in thousandths of a token', () => {
    const step = fc.record({
      afterMs: fc.integer({ min: -500, max: 2_000 }),
      cost: fc.integer({ min: 1, max: 20 }),
      elsewhere: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const tokens = fullBucket(rule, 0);
        // A thousandth of a token is refilled in 1 / perSecond ms.
        const full = BigInt(rule.burst) * 1_000n;
        let [now, left, atMs] = [0, full, 0];
        for (const { afterMs, cost, elsewhere } of steps) {
          now = Math.max(0, now + afterMs);
          if (now > atMs) {
            left += BigInt((now - atMs) * rule.perSecond);
            if (left > full) left = full;
            atMs = now;
          }
          const may = elsewhere || left >= 1_000n;
          if (elsewhere) deductTokens(tokens, now, rule, cost);
          else expect(takeToken(tokens, now, rule, cost)).toBe(may);
          if (may) left -= BigInt(cost) * 1_000n;
          if (left < -full) left = -full;
          expect(tokens.left).toBeCloseTo(Number(left) / 1_000, 9);
        }
      }),
    );
  });
});

test('counts the calls of each second of the clock', () => {
  let nowMs = 900;
  const count = countPerSecond(() => nowMs);
  expect([count(), count()]).toEqual([1, 2]);
  nowMs = 1_000;
  expect([count(), count()]).toEqual([1, 2]);
  nowMs = 1_999;
  expect(count()).toBe(3);
});
