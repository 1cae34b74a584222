/**
 * What no book shows: that whoever has nothing left here is kept nowhere, and that a row's number means
 * whoever has it now.
 */

import { describe, expect, test } from 'vitest';
import { createBucket } from './bucket.ts';
import { createCounters } from './counters.ts';
import type { HoldRequest } from './event.ts';
import type { Clock } from './group.ts';
import { createHolds } from './holds.ts';
import { createLapses } from './lapses.ts';
import { type Facts, NO_FACTS } from './promise.ts';
import { createPromises } from './promises.ts';
import type { Tally } from './tallies.ts';

const USDC = `0x${'a'.repeat(40)}` as const;
const WETH = `0x${'b'.repeat(40)}` as const;
const request = (orderId: string, changed: Partial<HoldRequest> = {}): HoldRequest => ({
  orderId,
  chainId: 1,
  token: USDC,
  amount: 100n,
  input: { chainId: 1, token: WETH, amount: 7n },
  group: 'nonce',
  lapsesAt: 1_060,
  taker: 'alice',
  pair: 'WETH/USDC',
  side: 'buy',
  notional: 100n,
  gapLoss: 0n,
  ...changed,
});

function setUp() {
  const counters = createCounters();
  const seen = new Set<Tally>();
  const tallyOf = (taker: string, pair: string) => {
    const tally = counters.tallyOf(taker, pair);
    seen.add(tally);
    return tally;
  };
  const promises = createPromises({ ...counters, tallyOf }, { endedSeconds: 60, spentSeconds: 900 });
  const out = createBucket(
    { chainId: 1, token: USDC, asset: 'USDC', decimals: 6 },
    { committed: 0n, quoted: 0n },
  );
  const into = createBucket(
    { chainId: 1, token: WETH, asset: 'WETH', decimals: 18 },
    { committed: 0n, quoted: 0n },
  );
  const clock: Clock = { chainId: 1, now: 1_000, grace: 15, lapses: createLapses<number>(), backlog: false };
  const place = { out, in: into, clock, way: counters.wayOf('WETH/USDC', 'buy', 'WETH') };
  return {
    promises,
    out,
    clock,
    tally: (taker: string) => tallyOf(taker, 'WETH/USDC'),
    /** Whoever is not kept is another one at the next look. */
    keeps: (taker: string) => seen.has(counters.tallyOf(taker, 'WETH/USDC')),
    hold: (its: HoldRequest, facts: Partial<Facts> = {}) =>
      promises.insert(its, { ...NO_FACTS, ...facts }, place, tallyOf(its.taker, its.pair)),
  };
}

describe('a taker is counted while anything of it is live, and not kept after that', () => {
  test.each([
    ['lapses', (promises, row) => expect(promises.due(row, 1_076)).toBe('ended')],
    ['is released', (promises, row) => promises.learn(row, { released: true })],
    ['is accepted', (promises, row) => promises.learn(row, { accepted: true })],
    [
      'ended, and more is heard of it',
      (promises, row) => {
        promises.learn(row, { released: true });
        promises.learn(row, { accepted: true });
      },
    ],
  ] satisfies [string, (promises: ReturnType<typeof setUp>['promises'], row: number) => void][])(
    'a hold %s',
    (_, happens) => {
      const { promises, tally, keeps, hold } = setUp();
      const row = hold(request('q'));
      const before = tally('alice');
      expect([before.count, promises.live]).toEqual([1, 1]);
      happens(promises, row);
      expect([before.count, promises.live]).toEqual([0, 0]);
      expect(keeps('alice')).toBe(false);
    },
  );

  test.each([{ lapsed: true }, { failed: true }])(
    'a promise that was over before it was read again: %o',
    (facts) => {
      const { keeps, hold } = setUp();
      hold(request('q'), facts);
      expect(keeps('alice')).toBe(false);
    },
  );

  test('two takers under one name of a nonce count each for itself', () => {
    const { promises, out, tally, hold } = setUp();
    hold(request('q'));
    const of = hold(request('r', { taker: 'bob', amount: 150n, notional: 150n }));
    expect([tally('alice'), tally('bob')]).toMatchObject([
      { count: 1, notional: 100n },
      { count: 1, notional: 150n },
    ]);
    expect(out.held).toBe(150n);
    promises.learn(of, { released: true });
    expect(tally('alice')).toMatchObject({ count: 1, notional: 100n });
    expect([tally('bob').count, out.held]).toEqual([0, 100n]);
  });
});

test('what was to happen to a promise does not happen to the one that has its number now', () => {
  const { promises, clock, hold } = setUp();
  const row = hold(request('old'));
  promises.learn(row, { fills: ['x'], finals: ['x'], finalised: [{ id: 'x', received: 7n }] });
  // Spent, to be remembered until 1,976; not spent after all, and over much earlier.
  promises.learn(row, { undone: ['x'] });
  promises.learn(row, { failed: true });
  clock.now = 1_136;
  for (const each of clock.lapses.due(1_136)) if (promises.due(each, 1_136) === 'over') promises.forget(each);
  expect(promises.find('old')).toBeUndefined();
  expect(hold(request('new', { lapsesAt: 3_000 }))).toBe(row);
  clock.now = 1_976;
  expect(clock.lapses.due(1_976).map((each) => promises.due(each, 1_976))).toEqual([undefined]);
  expect([promises.live, promises.facts(row).lapsed]).toEqual([1, false]);
  // Nor does a number that nobody has mean anybody.
  promises.forget(row + 1);
  expect(promises.due(row + 1, 9_000)).toBeUndefined();
});

test('a nonce names its quotes that are not over, in the order they came', () => {
  const { promises, hold } = setUp();
  const rows = ['a', 'b', 'c', 'd'].map((orderId) => hold(request(orderId)));
  promises.learn(rows[1] as number, { released: true });
  expect(promises.ofNonce('nonce')).toEqual(['a', 'c', 'd']);
  promises.learn(rows[2] as number, { accepted: true });
  promises.learn(rows[3] as number, { released: true });
  expect(promises.ofNonce('nonce')).toEqual(['a', 'c']);
  expect(promises.ofNonce('another')).toEqual([]);
});

test('rows are used again, and only when they are free', () => {
  const holds = createHolds();
  const rows = Array.from({ length: 5_000 }, () => holds.reserve());
  expect(new Set(rows).size).toBe(5_000);
  for (const row of [7, 4_500]) holds.free(row);
  expect([holds.reserve(), holds.reserve(), holds.reserve()].sort((a, b) => a - b)).toEqual([
    7, 4_500, 5_000,
  ]);
});
