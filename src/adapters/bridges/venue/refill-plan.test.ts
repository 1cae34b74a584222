/** Tests which chains of a float get money, from where, and how much. */

import { expect, test } from 'vitest';
import { type FloatState, type OpenMove, planRefills } from './refill-plan.ts';

const TOKEN = `0x${'70'.repeat(20)}` as const;
const state = (chainId: number, owned: bigint, change: Partial<FloatState> = {}): FloatState => ({
  ...{ chainId, token: TOKEN, decimals: 6, low: 20n, lot: 50n, owned, free: owned },
  ...change,
});
const open = (from: number, to: number): OpenMove => ({
  from: { chainId: from, token: TOKEN },
  to: { chainId: to, token: TOKEN },
});
const planned = (states: FloatState[], ...moves: OpenMove[]) =>
  planRefills(states, moves).map((each) =>
    'why' in each
      ? `${each.to.chainId}: ${each.why}`
      : `${each.from.chainId} to ${each.to.chainId}: ${each.amount}`,
  );

test('a low chain gets a lot from the chain with the most above its own low', () => {
  const states = [state(1, 19n), state(2, 90n), state(3, 100n, { low: 60n })];
  expect(planned(states)).toEqual(['2 to 1: 50']);
  expect(planned([state(1, 20n), state(2, 90n)])).toEqual([]);
  expect(planned([state(1, 0n, { low: null }), state(2, 90n)])).toEqual([]);
});

test('less than a lot goes where it is enough, and nothing where it is not', () => {
  expect(planned([state(1, 5n), state(2, 35n)])).toEqual(['2 to 1: 15']);
  expect(planned([state(1, 5n), state(2, 34n)])).toEqual([
    '1: no other chain holds enough above its own low',
  ]);
  expect(planned([state(1, 0n, { low: 90n }), state(2, 70n)])).toEqual(['2 to 1: 50']);
});

test('live quotes keep money where it is, and do not make a chain low', () => {
  expect(planned([state(1, 30n, { free: 0n }), state(2, 90n)])).toEqual([]);
  expect(planned([state(1, 5n), state(2, 90n, { free: 40n })])).toEqual(['2 to 1: 20']);
});

test('one transfer at a time goes to a chain, leaves a chain, and joins two chains', () => {
  const three = [state(1, 5n), state(2, 90n), state(3, 60n)];
  expect(planned(three, open(3, 1))).toEqual([]);
  expect(planned(three, open(2, 3))).toEqual(['3 to 1: 40']);
  expect(planned(three, open(1, 2))).toEqual(['3 to 1: 40']);
  expect(planned(three.slice(0, 2), open(1, 2))).toEqual([
    '1: the transfers of the other chains are not over',
  ]);
  expect(planned([state(1, 5n), state(2, 5n), state(3, 200n)])).toEqual([
    '3 to 1: 50',
    '2: no other chain holds enough above its own low',
  ]);
});

test('a chain whose money cannot be moved neither gives nor gets, and says why', () => {
  const stuck = { fixed: 'the account has no mover' };
  expect(planned([state(1, 5n), state(2, 90n, stuck), state(3, 60n)])).toEqual(['3 to 1: 40']);
  expect(planned([state(1, 5n), state(2, 90n, stuck)])).toEqual(['1: the account has no mover']);
  expect(planned([state(1, 5n, stuck), state(2, 90n)])).toEqual(['1: the account has no mover']);
});

test('tokens with other decimals on another chain are compared by value', () => {
  const eighteen = { decimals: 18, low: 20n * 10n ** 12n, lot: 50n * 10n ** 12n };
  const far = state(2, 90n * 10n ** 12n, eighteen);
  expect(planned([state(1, 5n), far, state(3, 80n)])).toEqual([`2 to 1: ${50n * 10n ** 12n}`]);
  expect(planned([state(1, 90n), { ...far, owned: 5n * 10n ** 12n + 1n }])).toEqual(['1 to 2: 50']);
  expect(planned([state(1, 5n), { ...far, low: null, lot: 1n }])).toEqual([
    '1: no other chain holds enough above its own low',
  ]);
});
