/** Mids looked at 1, 10 and 60 seconds after acceptance, on time or marked as late. */

import { expect, test } from 'vitest';
import type { Mark } from '../../ports/stores/accounting-store.ts';
import { createMarkouts, markoutBps, type Watched } from './markout.ts';

/** A clock that a test moves; timers fire in the order they are due. */
function played(startMs = 1_000_000) {
  let nowMs = startMs;
  let timers: { atMs: number; run: () => void }[] = [];
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(delayMs: number, run: () => void) {
      const timer = { atMs: nowMs + delayMs, run };
      timers.push(timer);
      return () => void (timers = timers.filter((each) => each !== timer));
    },
    to(atMs: number) {
      for (;;) {
        const next = timers.filter((each) => each.atMs <= atMs).sort((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        timers = timers.filter((each) => each !== next);
        nowMs = Math.max(nowMs, next.atMs);
        next.run();
      }
      nowMs = Math.max(nowMs, atMs);
    },
  };
}

const trade = (acceptedAtMs: number, rest: Partial<Watched> = {}): Watched => ({
  orderId: `0x${acceptedAtMs}`,
  acceptedAtMs,
  taker: '0xa',
  pair: 'WETH-USDC',
  side: 'buy',
  mid: 2_500,
  late: false,
  ...rest,
});

function world() {
  const clock = played();
  const seen: { order: string; horizon: number; mark: Mark }[] = [];
  const state = { mid: 2_500 as number | undefined };
  const markouts = createMarkouts({
    clock,
    mid: () => state.mid,
    marked: ({ orderId }, horizon, mark) => seen.push({ order: orderId, horizon, mark }),
  });
  return { clock, seen, state, markouts };
}

test('positive bps are against us, on either side', () => {
  expect(markoutBps('buy', 2_500, 2_490)).toBeCloseTo(40, 10);
  expect(markoutBps('sell', 2_500, 2_490)).toBeCloseTo(-40, 10);
});

test('each horizon uses the mid of its own time', () => {
  const { clock, seen, state, markouts } = world();
  markouts.watch(trade(1_000_000));
  state.mid = 2_490;
  clock.to(1_001_000);
  state.mid = 2_505;
  clock.to(1_010_500);
  clock.to(1_060_000);
  expect(
    seen.map(({ horizon, mark }) => [
      horizon,
      mark.bps === null ? null : Math.round(mark.bps),
      mark.atMs - 1_000_000,
      mark.late,
    ]),
  ).toEqual([
    [1, 40, 1_000, false],
    [10, -20, 10_000, false],
    [60, -20, 60_000, false],
  ]);
  expect(markouts.waiting).toBe(0);
});

test('marks missed during a downtime are taken late and flagged; others wait', () => {
  const { clock, seen, markouts } = world();
  markouts.watch(trade(1_000_000 - 30_000), { 1: { bps: 5, atMs: 1, late: false } });
  clock.to(1_000_001);
  expect(seen.map(({ horizon, mark }) => [horizon, mark.late])).toEqual([[10, true]]);
  clock.to(1_030_000);
  expect(seen.map(({ horizon, mark }) => [horizon, mark.late])).toEqual([
    [10, true],
    [60, false],
  ]);
});

test('without a mid at the horizon or at acceptance, a mark has no value', () => {
  const { clock, seen, state, markouts } = world();
  markouts.watch(trade(1_000_000));
  markouts.watch(trade(1_000_000, { mid: null, late: true }));
  state.mid = undefined;
  clock.to(1_001_000);
  state.mid = 2_500;
  clock.to(1_060_000);
  expect(seen.map(({ mark }) => mark.bps)).toEqual([null, null, 0, null, 0, null]);
});

test('ten thousand trades: every mark arrives in order, with one timer', () => {
  const { clock, seen, markouts } = world();
  for (let n = 0; n < 10_000; n++) markouts.watch(trade(1_000_000 + n));
  expect(markouts.waiting).toBe(30_000);
  clock.to(1_080_000);
  expect(seen.length).toBe(30_000);
  expect(seen.every(({ mark }) => !mark.late)).toBe(true);
  expect(markouts.waiting).toBe(0);
});
