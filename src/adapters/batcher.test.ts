/** Batches run one at a time, lose no call, and give each call its own result. */

import { expect, test } from 'vitest';
import { createBatcher } from './batcher.ts';

test('calls made while a batch is running form the next batch', async () => {
  const batches: number[][] = [];
  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  const double = createBatcher<number, number>(
    async (items) => {
      batches.push([...items]);
      if (batches.length === 1) await held;
      return items.map((item) => item * 2);
    },
    { max: 3 },
  );
  const first = [double(1), double(2)];
  await expect.poll(() => batches.length).toBe(1);
  const rest = [3, 4, 5, 6].map(double);
  release();
  expect(await Promise.all([...first, ...rest])).toEqual([2, 4, 6, 8, 10, 12]);
  expect(batches).toEqual([[1, 2], [3, 4, 5], [6]]);
});

test('with overlap no call waits for an earlier batch, and calls of one turn still share one', async () => {
  const batches: number[][] = [];
  const ask = createBatcher<number, number>(
    async (items) => {
      batches.push([...items]);
      if (items.includes(1)) await new Promise(() => {});
      return items;
    },
    { max: 10, overlap: true },
  );
  void ask(1);
  await expect.poll(() => batches.length).toBe(1);
  expect(await Promise.all([ask(2), ask(3)])).toEqual([2, 3]);
  expect(batches).toEqual([[1], [2, 3]]);
});

test('calls in the pause after a batch form the next batch', async () => {
  const batches: number[][] = [];
  const ask = createBatcher<number, number>(
    async (items) => {
      batches.push([...items]);
      return items;
    },
    { max: 10, pauseMs: 50 },
  );
  await ask(1);
  const second = ask(2);
  await new Promise((done) => setImmediate(done));
  await Promise.all([second, ask(3)]);
  expect(batches).toEqual([[1], [2, 3]]);
});

test('items with equal keys run in separate batches, in call order', async () => {
  const batches: string[][] = [];
  const say = createBatcher<string, string>(
    async (items) => {
      batches.push([...items]);
      return items;
    },
    { max: 10, keyOf: (item) => item[0] as string },
  );
  await Promise.all(['a1', 'b1', 'a2', 'a3', 'b2'].map(say));
  expect(batches).toEqual([['a1', 'b1'], ['a2', 'b2'], ['a3']]);
});

test('a failed batch rejects its own calls and no later ones', async () => {
  let batches = 0;
  const ask = createBatcher<number, number>(
    async (items) => {
      batches += 1;
      if (batches === 1) throw new Error('away');
      return items;
    },
    { max: 2 },
  );
  expect(await outcomes([1, 2, 3, 4].map(ask))).toEqual(['away', 'away', 3, 4]);
});

test('after an error that allows it, each item of the failed batch runs by itself', async () => {
  const ask = createBatcher<number, number>(
    async (items) => {
      if (items.includes(3)) throw new Error('mine');
      return items;
    },
    { max: 4, retryAlone: (error) => (error as Error).message === 'mine' },
  );
  expect(await outcomes([1, 2, 3, 4].map(ask))).toEqual([1, 2, 'mine', 4]);
});

/** Resolves to the result of each call, or to the message of its error. */
const outcomes = async (calls: readonly Promise<number>[]) =>
  (await Promise.allSettled(calls)).map((end) =>
    end.status === 'rejected' ? (end.reason as Error).message : end.value,
  );
