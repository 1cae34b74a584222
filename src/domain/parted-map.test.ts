/** A map in parts is a map: whatever is done to both, both answer alike. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPartedMap } from './parted-map.ts';

const key = fc.oneof(fc.string({ maxLength: 3 }), fc.string({ minLength: 4, maxLength: 8 }), fc.integer({ min: 0, max: 50 }).map((n) => `t ${n}`));
const step = fc.oneof(
  fc.record({ what: fc.constant('set' as const), key, value: fc.integer() }),
  fc.record({ what: fc.constant('delete' as const), key, value: fc.constant(0) }),
);

test('it answers as a map does', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const [one, other] = [createPartedMap<number>(), new Map<string, number>()];
      for (const { what, key: at, value } of steps) {
        if (what === 'set') {
          one.set(at, value);
          other.set(at, value);
        } else expect(one.delete(at)).toBe(other.delete(at));
        expect([one.get(at), one.has(at), one.size]).toEqual([other.get(at), other.has(at), other.size]);
      }
      expect([...one.values()].sort()).toEqual([...other.values()].sort());
    }),
  );
});

test('what is over is taken out from the oldest on, and the first that is not over keeps what came after it in its part', () => {
  const map = createPartedMap<number>();
  for (let n = 0; n < 1_000; n += 1) map.set(`order-${n}`, n);
  map.dropWhile((n) => n < 400);
  expect([...map.values()].sort((a, b) => a - b)).toEqual(Array.from({ length: 600 }, (_, n) => n + 400));
  map.dropWhile((n) => n > 500);
  for (let n = 400; n <= 500; n += 1) expect(map.get(`order-${n}`)).toBe(n);
});

test('ids, addresses, nonces and counters of takers spread over the parts', () => {
  const words = Array.from({ length: 64_000 }, (_, n) => (BigInt(n + 1) * 0x9e3779b97f4a7c15f39cc0605cedc835n).toString(16).padStart(40, '0').slice(-40));
  for (const name of [(word: string) => `0x${word}`, (word: string) => `t 0x${word} WETH/USDC`, (word: string, n: number) => `8453:0x${word}:${n}`, (_: string, n: number) => `8453:0x${'ab'.repeat(20)}:${n}`]) {
    const map = createPartedMap<number>();
    for (const [n, word] of words.entries()) map.set(name(word, n), n);
    let [largest, last, run] = [0, -1, 0];
    // Within a part they come in the order they were set: where the order breaks, another part begins.
    for (const n of map.values()) {
      run = n > last ? run + 1 : 1;
      last = n;
      largest = Math.max(largest, run);
    }
    expect(largest).toBeLessThan(64_000 / 8);
  }
});
