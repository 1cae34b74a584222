/** Tests the doctor's wait for prices: without any to wait for it ends immediately. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { checkFeeds } from './feeds.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('without wanted prices no timer keeps the process alive', async () => {
  expect(await checkFeeds([], [], [], 15_000)).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});
