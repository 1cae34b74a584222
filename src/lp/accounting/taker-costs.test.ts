/** Toxic takers pay their cost, noise is not charged, and memory is bounded. */

import { expect, test } from 'vitest';
import { createTakerCosts, TIER } from './taker-costs.ts';

const OPTIONS = { keep: 3, startBps: 1.5, capBps: 25, weight: 30, window: 100 };
const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as const;

test('a new taker costs the assumption, and so does every taker before the first trade', () => {
  expect(createTakerCosts(OPTIONS).adverse(address(1))).toBe(1.5);
});

test('uses the worst horizon, shrunk to the average with weight 30', () => {
  const takers = createTakerCosts(OPTIONS);
  for (let n = 0; n < 30; n++) {
    takers.learn(address(1), 1, -2, n);
    takers.learn(address(1), 10, 10, n);
    takers.learn(address(1), 60, 4, n);
  }
  // The average has seen the same 30 trades: (30 * 10 + 30 * 1.5) / 60 = 5.75. The taker: (30 * 10 + 30 *
  // 5.75) / 60.
  expect(takers.adverse(address(1))).toBeCloseTo(7.875, 10);
  expect(takers.adverse(address(2))).toBeCloseTo(5.75, 10);
});

test('noise is not toxicity: the floor applies after averaging', () => {
  const takers = createTakerCosts({ ...OPTIONS, startBps: 0 });
  for (let n = 0; n < 50; n++) takers.learn(address(1), 1, n % 2 === 0 ? 20 : -20, n);
  expect(takers.adverse(address(1))).toBeCloseTo(0, 10);
  const kind = createTakerCosts(OPTIONS);
  for (let n = 0; n < 1_000; n++)
    for (const horizon of [1, 10, 60] as const) kind.learn(address(1), horizon, -5, n);
  expect(kind.adverse(address(1))).toBe(0);
});

test('the cap holds, and old trades decay', () => {
  const takers = createTakerCosts(OPTIONS);
  for (let n = 0; n < 2_000; n++) takers.learn(address(1), 10, 400, n);
  expect(takers.adverse(address(1))).toBe(25);
  for (let n = 0; n < 3_000; n++)
    for (const horizon of [1, 10, 60] as const) takers.learn(address(1), horizon, 0, n);
  expect(takers.adverse(address(1))).toBeLessThan(10);
});

test('keeps at most the configured number of takers, the most recent ones', () => {
  const takers = createTakerCosts(OPTIONS);
  for (const n of [1, 2, 3]) takers.learn(address(n), 1, 10, n);
  takers.learn(address(1), 1, 10, 4);
  takers.learn(address(4), 1, 10, 5);
  expect(takers.known).toBe(3);
  expect(
    takers
      .worst(10)
      .map(({ taker }) => taker)
      .sort(),
  ).toEqual([1, 3, 4].map(address));
});

test('restores from rows, and ignores an invalid number', () => {
  const takers = createTakerCosts(OPTIONS);
  for (let n = 0; n < 40; n++) takers.learn(address(7), 10, 12, n);
  takers.learn(address(7), 10, Number.NaN, 41);
  const rows = takers.changed();
  expect(rows.map(({ key }) => key).sort()).toEqual([address(7), TIER]);
  expect(takers.changed()).toEqual([]);
  const again = createTakerCosts(OPTIONS);
  again.load(rows);
  expect(again.adverse(address(7))).toBe(takers.adverse(address(7)));
  expect(again.adverse(address(9))).toBe(takers.adverse(address(9)));
});
