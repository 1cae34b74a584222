import { expect, test } from 'vitest';
import { createSystemClock, systemClock } from './clock.ts';

test('the offset for tests moves the wall clock only', () => {
  const behind = createSystemClock(-120_000);
  expect(behind.nowMs()).toBeLessThan(systemClock.nowMs() - 60_000);
  expect(behind.monotonicMs()).toBeGreaterThan(systemClock.monotonicMs() - 60_000);
});

test('refuses an offset that is not an integer', () => {
  expect(() => createSystemClock(Number('soon'))).toThrow('FIRMQUOTE_CLOCK_OFFSET_MS');
});
