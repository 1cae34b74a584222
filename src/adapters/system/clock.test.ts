import { expect, test } from 'vitest';
import { createSystemClock, systemClock } from './clock.ts';

test('the offset for tests moves the wall clock only', () => {
  const behind = createSystemClock(-120_000);
  expect(Math.round((behind.nowMs() - systemClock.nowMs()) / 10_000)).toBe(-12);
  expect(Math.round((behind.monotonicMs() - systemClock.monotonicMs()) / 10_000)).toBe(0);
});

test('an offset that is no whole number is refused', () => {
  expect(() => createSystemClock(Number('soon'))).toThrow('FIRMQUOTE_CLOCK_OFFSET_MS');
});
