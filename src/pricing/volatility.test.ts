import { expect, test } from 'vitest';
import { annualised, perRootSecond } from './option.ts';
import { decay, deviationOver, observeMid, sigmaOf, UNSEEN, volatilityRatio } from './volatility.ts';

test('EWMA: 60 steps of 1 bp over 1 s with tau 60 s', () => {
  let variance = 0;
  for (let step = 0; step < 60; step++) variance = decay(variance, 1, 1, 60);
  expect(variance).toBeCloseTo(0.6321205588, 10);
  // 0.79506009762; the model prints ...977.
  expect(Math.sqrt(variance)).toBeCloseTo(Math.sqrt(1 - Math.exp(-1)), 12);
});

test('ignores moves within a second, counts a move over a second, and applies the floor', () => {
  let state = observeMid(UNSEEN, 2_500, 0);
  expect(sigmaOf(state, 0.45)).toBe(0.45);
  expect(observeMid(state, 2_600, 999)).toBe(state);
  expect(observeMid(state, 2_600, -5)).toBe(state);
  expect(observeMid(state, Number.NaN, 5_000)).toBe(state);
  state = observeMid(state, 2_501, 1_000);
  expect(state.variances[0]).toBeGreaterThan(state.variances[1]);
  expect(sigmaOf(state, 0)).toBeCloseTo(annualised(Math.sqrt(state.variances[0])), 12);
});

test('recovers a constant volatility', () => {
  let state = UNSEEN;
  let mid = 2_500;
  for (let second = 0; second < 6_000; second++) {
    state = observeMid(state, mid, second * 1_000);
    mid *= second % 2 === 0 ? 1.0002 : 1 / 1.0002;
  }
  // 2 bps every second is sigma_s = 2.
  expect(sigmaOf(state, 0)).toBeCloseTo(annualised(2), 2);
  expect(deviationOver(annualised(2), 25)).toBeCloseTo(10, 10);
  expect(perRootSecond(0.9)).toBeCloseTo(1.602648, 5);
});

test('volatilityRatio compares the last minute with the day and uses only the time each has observed', () => {
  const calm = { variances: [1, 1, 1] as const, seconds: 1e9, last: undefined };
  expect(volatilityRatio(calm)).toBe(1);
  expect(volatilityRatio({ ...calm, variances: [9, 1, 1] })).toBe(3);
  expect(volatilityRatio(UNSEEN)).toBe(0);
});

test('the start is no spike: one bp a second from the first second on', () => {
  let state = UNSEEN;
  for (let second = 0; second < 3_600; second++) {
    state = observeMid(state, 2_500 * (second % 2 === 0 ? 1 : 1.0001), second * 1_000);
    if (second > 0) expect(volatilityRatio(state)).toBeCloseTo(1, 6);
  }
  for (let second = 3_600; second < 3_630; second++)
    state = observeMid(state, 2_500 * (second % 2 === 0 ? 1 : 1.001), second * 1_000);
  expect(volatilityRatio(state)).toBeGreaterThan(3);
});
