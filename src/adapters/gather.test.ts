/** Calls that share a round: one under way at a time, none lost, each with its own answer. */

import { expect, test } from 'vitest';
import { createGather } from './gather.ts';

test('what is asked while a round is under way goes together in the next', async () => {
  const rounds: number[][] = [];
  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  const double = createGather<number, number>(
    async (items) => {
      rounds.push([...items]);
      if (rounds.length === 1) await held;
      return items.map((item) => item * 2);
    },
    { most: 3 },
  );
  const first = [double(1), double(2)];
  await expect.poll(() => rounds.length).toBe(1);
  const rest = [3, 4, 5, 6].map(double);
  release();
  expect(await Promise.all([...first, ...rest])).toEqual([2, 4, 6, 8, 10, 12]);
  expect(rounds).toEqual([[1, 2], [3, 4, 5], [6]]);
});

test('those of one name take turns, in the order in which they asked', async () => {
  const rounds: string[][] = [];
  const say = createGather<string, string>(
    async (items) => {
      rounds.push([...items]);
      return items;
    },
    { most: 10, nameOf: (item) => item[0] as string },
  );
  await Promise.all(['a1', 'b1', 'a2', 'a3', 'b2'].map(say));
  expect(rounds).toEqual([['a1', 'b1'], ['a2', 'b2'], ['a3']]);
});

test('a round that fails fails for those in it and for nobody after them', async () => {
  let rounds = 0;
  const ask = createGather<number, number>(
    async (items) => {
      rounds += 1;
      if (rounds === 1) throw new Error('away');
      return items.map((item) => (item === 3 ? Promise.reject(new Error('mine')) : item));
    },
    { most: 2 },
  );
  const ends = await Promise.allSettled([1, 2, 3, 4].map(ask));
  expect(ends.map((end) => (end.status === 'rejected' ? (end.reason as Error).message : end.value))).toEqual([
    'away',
    'away',
    'mine',
    4,
  ]);
});
