/** Tests which endpoints are believed, and from when on again. */

import { expect, test } from 'vitest';
import { silentLog, silentMetrics } from '../../../../test/support/silent.ts';
import type { Hex } from '../../../domain/hex.ts';
import { createHealth, type Sighting } from './health.ts';

let nowMs = 0;
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} };
const three = () =>
  createHealth(
    3,
    { chain: 'test', clock, log: silentLog, metrics: silentMetrics },
    { maxLagBlocks: 5, readmitAfterMs: 30_000 },
  );
const at = (head: number, deep?: Hex): Sighting => ({ head: BigInt(head), deep });

test('excludes endpoints that lag, run ahead, go back or contradict; asks the others in order', () => {
  const cases: [string, (health: ReturnType<typeof three>) => void, readonly number[]][] = [
    ['all are well', (health) => health.round([at(100), at(99), at(97)]), [0, 1, 2]],
    ['one lags', (health) => health.round([at(94), at(100), at(100)]), [1, 2]],
    ['one is ahead of what can be', (health) => health.round([at(900), at(100), at(100)]), [1, 2]],
    ['one goes back', (health) => (health.saw(0, 100n), health.saw(0, 90n)), [1, 2]],
    [
      'one contradicts two',
      (health) => health.round([at(100, '0xaa'), at(100, '0xbb'), at(100, '0xbb')]),
      [1, 2],
    ],
    [
      'nobody knows who of two is wrong',
      (health) => health.round([at(100, '0xaa'), at(100, '0xbb'), undefined]),
      [0, 1, 2],
    ],
    [
      'one that is silent is no witness against the others',
      (health) => health.round([at(100), undefined, at(100)]),
      [0, 1, 2],
    ],
    [
      'all are out: who lied is asked last',
      (health) => (health.eject(0, 'contradicting'), health.eject(1, 'failing'), health.eject(2, 'failing')),
      [1, 2, 0],
    ],
    [
      'all are out: all are asked',
      (health) => [0, 1, 2].forEach((index) => health.eject(index, 'failing')),
      [0, 1, 2],
    ],
  ];
  for (const [what, happens, order] of cases) {
    const health = three();
    happens(health);
    expect(health.order(), what).toEqual(order);
  }
});

test('an endpoint returns after a period without errors', () => {
  const health = three();
  health.round([at(50), at(100), at(100)]);
  expect(health.inService()).toEqual([1, 2]);
  const later = (ms: number, own: number) => {
    nowMs += ms;
    health.round([at(own), at(110), at(110)]);
    return health.inService().includes(0);
  };
  expect(later(1_000, 110)).toBe(false);
  expect(later(20_000, 110)).toBe(false);
  // Once more behind: what it did before does not count any more.
  expect(later(5_000, 60)).toBe(false);
  expect(later(5_000, 110)).toBe(false);
  expect(later(29_000, 110)).toBe(false);
  expect(later(1_000, 110)).toBe(true);
});

test('a few blocks back are the other node of a load balancer; more is an endpoint that went back', () => {
  const health = three();
  for (const head of [100n, 99n, 101n, 96n, 102n]) health.saw(0, head);
  expect(health.inService()).toEqual([0, 1, 2]);
  health.saw(0, 96n);
  expect(health.inService()).toEqual([1, 2]);
});

test('the only endpoint is always asked', () => {
  const health = createHealth(1, { chain: 'test', clock, log: silentLog, metrics: silentMetrics });
  health.eject(0, 'backwards');
  expect(health.inService()).toEqual([0]);
});

test('for a quorum, an endpoint that failed to answer may take part; one that answered wrongly may not', () => {
  const health = three();
  health.eject(1, 'failing');
  expect(health.witnesses()).toEqual([0, 2, 1]);
  health.eject(0, 'contradicting');
  health.eject(2, 'failing');
  expect(health.witnesses()).toEqual([1, 2]);
});
