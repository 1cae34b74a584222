import { expect, test } from 'vitest';
import { watchLoop } from './loop-watch.ts';

test('a stall above 4 s makes the process not ready for 10 s; shorter delays do not', () => {
  let now = 0;
  const watch = watchLoop(() => now);
  const after = (ms: number) => {
    now += ms;
    watch.check();
    return watch.reasons();
  };
  expect(after(250)).toEqual([]);
  expect(after(3_900)).toEqual([]);
  expect(after(8_350)).toEqual(['the process stood still for 8.1 s and is catching up']);
  for (let calm = 0; calm < 9_750; calm += 250) expect(after(250)).toHaveLength(1);
  expect(after(250)).toEqual([]);
});
