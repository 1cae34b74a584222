import { expect, test } from 'vitest';
import { createSettleTimes } from './receivables.ts';

const made = () => createSettleTimes({ factor: 3, leastSeconds: 20, expectedSeconds: 60 });

test("overdue after three times the corridor's median delay, even with one late sample", () => {
  const times = made();
  for (const seconds of [10, 12, 11, 900, 13]) times.arrived('base-arc', seconds);
  expect(times.limit('base-arc')).toBe(36);
  times.arrived('base-arc', 14);
  expect(times.limit('base-arc')).toBe(37.5);
  // Another corridor knows nothing of it: what was expected stands in.
  expect(times.limit('arc-base')).toBe(180);
});

test('few samples decide nothing, fast corridors raise no early alarm, and old samples are dropped', () => {
  const times = made();
  for (let n = 0; n < 4; n++) times.arrived('a-b', 1_000);
  expect(times.limit('a-b')).toBe(180);
  for (let n = 0; n < 31; n++) times.arrived('a-b', 2);
  expect(times.limit('a-b')).toBe(20);
});
