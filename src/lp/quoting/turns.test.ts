/** Long work gives its value, lets others in, and fails as its steps do. */

import { performance } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { atOnce } from '../../domain/steps.ts';
import { createLine, inTurns, unhurried } from './turns.ts';

const busy = (ms: number): void => {
  for (const sinceMs = performance.now(); performance.now() - sinceMs < ms;);
};

function* work(steps: number, ms: number): Generator<void, string> {
  for (let step = 0; step < steps; step++) {
    busy(ms);
    yield;
  }
  return `${steps} steps`;
}

test('others have their turn while it goes on, and not before every little step', async () => {
  let [turns, over] = [0, false];
  const count = () => {
    turns += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  expect(await inTurns(work(10, 3))).toBe('10 steps');
  over = true;
  expect(turns).toBeGreaterThanOrEqual(9);

  [turns, over] = [0, false];
  setImmediate(count);
  expect(await inTurns(work(1_000, 0))).toBe('1000 steps');
  over = true;
  expect(turns).toBeLessThan(500);
});

test('what nobody is in a hurry for rests after each moment, so that timers come in between', async () => {
  let fired = 0;
  const timer = setInterval(() => (fired += 1), 1);
  const seen: number[] = [];
  function* watched(): Generator<void, string> {
    for (let step = 0; step < 5; step++) {
      seen.push(fired);
      busy(2);
      yield;
    }
    return 'done';
  }
  expect(await unhurried(watched())).toBe('done');
  clearInterval(timer);
  expect(seen.every((count, step) => step === 0 || count > (seen[step - 1] as number))).toBe(true);
});

test('many who waited for one thing go on in their order, and others have their turn in between', async () => {
  const line = createLine();
  let [turns, over] = [0, false];
  const count = () => {
    turns += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const served: number[] = [];
  const all = await Promise.all(
    Array.from({ length: 10 }, (_, at) => line(() => (busy(2), served.push(at), at))),
  );
  over = true;
  expect([all, served]).toEqual([
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  ]);
  expect(turns).toBeGreaterThanOrEqual(9);
  await expect(
    line(() => {
      throw new Error('its own');
    }),
  ).rejects.toThrow('its own');
  await expect(line(async () => Promise.reject(new Error('later')))).rejects.toThrow('later');
  expect(await line(() => line(() => 'one that another brought'))).toBe('one that another brought');
  expect(await line(() => 'the next')).toBe('the next');
});

test('several at once have one moment a turn of the loop between them, and each comes to its end', async () => {
  const turnsOfLoop: number[] = [];
  function* watched(): Generator<void, string> {
    for (let step = 0; step < 5; step++) {
      if (step > 0) turnsOfLoop.push(performance.nodeTiming.uvMetricsInfo.loopCount);
      busy(1);
      yield;
    }
    return 'done';
  }
  const line = createLine();
  const lined = Array.from({ length: 5 }, () =>
    line(() => (turnsOfLoop.push(performance.nodeTiming.uvMetricsInfo.loopCount), busy(1))),
  );
  expect(await Promise.all([inTurns(watched()), unhurried(watched()), inTurns(watched())])).toEqual([
    'done',
    'done',
    'done',
  ]);
  await Promise.all(lined);
  expect(turnsOfLoop).toHaveLength(17);
  expect(new Set(turnsOfLoop).size).toBe(17);
});

test('at once it is the same work', () => {
  expect(atOnce(work(3, 0))).toBe('3 steps');
});

test('what a step throws is thrown', async () => {
  function* broken(): Generator<void, never> {
    yield;
    throw new Error('in the middle');
  }
  await expect(inTurns(broken())).rejects.toThrow('in the middle');
  await expect(unhurried(broken())).rejects.toThrow('in the middle');
  expect(() => atOnce(broken())).toThrow('in the middle');
});
