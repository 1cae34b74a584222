/** Who holds options and who trades: both tests, their steps, and that everything is forgiven in time. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  accepted,
  type TakerActivity,
  type TakerActivityRule,
  faded,
  quoted,
  suspicion,
  tradedElsewhere,
  NO_ACTIVITY,
} from './taker-activity.ts';

const rule: TakerActivityRule = {
  liveSeconds: 50,
  acceptShare: 0.02,
  accepts: 10,
  lateShare: 0.8,
  memorySeconds: 3_600,
};
const times = (
  count: number,
  step: (activity: TakerActivity) => TakerActivity,
  from: TakerActivity = NO_ACTIVITY,
) => Array.from({ length: count }).reduce<TakerActivity>((activity) => step(activity), from);
const asks = (count: number, from?: TakerActivity) =>
  times(count, (activity) => quoted(activity, 10, 1), from);

describe('quotes without accepts', () => {
  test.each([
    [5, 0],
    [6, 1],
    [20, 2],
    [80, 3],
  ])('%i quotes of ten seconds: step %i', (count, step) => {
    expect(suspicion(asks(count), rule)).toBe(step);
  });

  test('one accept in fifty requests is enough to count as a trader', () => {
    const trader = accepted(asks(50), { share: 0.1, edgeBps: 8, unused: 9 });
    expect(suspicion(trader, rule)).toBe(0);
    expect(suspicion(asks(1, trader), rule)).not.toBe(0);
  });

  test('a taker who trades with another LP is not penalised', () => {
    expect(
      suspicion(
        times(80, (activity) => tradedElsewhere(activity, 10), asks(80)),
        rule,
      ),
    ).toBe(0);
  });
});

describe('late accepts after a favourable move', () => {
  const late = (count: number, share: number, edgeBps: number) =>
    times(count, (activity) =>
      accepted(quoted(activity, 10, 1), { share, edgeBps, unused: 10 * (1 - share) }),
    );
  test.each([
    [9, 0.9, -5, 0],
    [10, 0.9, -5, 1],
    [20, 0.9, -5, 2],
    [40, 0.9, -5, 3],
    [40, 0.7, -5, 0],
    [40, 0.9, 5, 0],
  ])('%i trades after %d of the life at %d bps for us: step %i', (count, share, mark, step) => {
    expect(suspicion(late(count, share, mark), rule)).toBe(step);
  });

  test('ten over several minutes still count as ten', () => {
    let activity = NO_ACTIVITY;
    for (let at = 0; at < 10; at++)
      activity = accepted(quoted(faded(activity, at * 20_000, rule), 10, 1), {
        share: 0.95,
        edgeBps: -3,
        unused: 0.5,
      });
    expect(suspicion(activity, rule)).toBe(1);
  });
});

test('every penalty decays with time and none by more requests', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.double({ min: 1, max: 60, noNaN: true }),
      (count, seconds) => {
        const guilty = times(count, (activity) => quoted(activity, seconds, 1), { ...NO_ACTIVITY, atMs: 1 });
        expect(suspicion(faded(guilty, 20 * 3_600_000, rule), rule)).toBe(0);
        expect(suspicion(quoted(guilty, seconds, 1), rule)).toBeGreaterThanOrEqual(suspicion(guilty, rule));
      },
    ),
  );
});

test('one decay step equals many', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 600_000 }), { minLength: 1, maxLength: 20 }), (gaps) => {
      const start = accepted(asks(30), { share: 0.9, edgeBps: -4, unused: 1 });
      let stepwise: TakerActivity = start;
      let atMs = 0;
      for (const gap of gaps) stepwise = faded(stepwise, (atMs += gap), rule);
      const once = faded(start, atMs, rule);
      for (const key of ['quotes', 'liveSeconds', 'accepts', 'lateness', 'edgeBps'] as const)
        expect(stepwise[key]).toBeCloseTo(once[key], 9);
    }),
  );
});
