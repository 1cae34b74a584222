/** The machine's clock. */

import { RequestError } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';

/** Milliseconds by which the wall clock is wrong, for tests only. */
const OFFSET = 'FIRMQUOTE_CLOCK_OFFSET_MS';

export function createSystemClock(offsetMs: number): Clock {
  if (!Number.isSafeInteger(offsetMs))
    throw new RequestError(`${OFFSET} is a whole number of milliseconds, for tests only. Unset it.`, {
      code: 'clock_offset',
    });
  return {
    nowMs: () => Date.now() + offsetMs,
    monotonicMs: () => performance.now(),
    after(delayMs, callback) {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
  };
}

export const systemClock: Clock = createSystemClock(Number(process.env[OFFSET] ?? 0));
