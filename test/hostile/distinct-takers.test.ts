/** A hundred thousand distinct takers leave nothing in the venue's memory once their quotes have expired. */

import { nonceGroupOf } from '../../src/domain/order.ts';
import { expect, test } from 'vitest';
import { createOpenQuotes } from '../../src/venue/market/open-quotes.ts';
import type { Address, Bytes32 } from '../../src/domain/hex.ts';

const TAKERS = 100_000;
const NOW = 1_000;
const LP = `0x${'11'.repeat(20)}` as Address;
const taker = (index: number) => `0x${index.toString(16).padStart(40, '0')}` as Address;
const quoteId = (index: number) => `0x${index.toString(16).padStart(64, '0')}` as Bytes32;
/** The first hundred ask for the longest validity. */
const until = (index: number) => NOW + (index < 100 ? 600 : 5);

test('promises and nonce groups end with their quotes, also behind groups that live longer', () => {
  const open = createOpenQuotes({ publishSoon() {} });
  const group = (index: number) => nonceGroupOf(1, taker(index), 1n);
  for (let index = 0; index < TAKERS; index++)
    open.addPromised({
      ...{ group: group(index), solverId: 'lp-1', quoteId: quoteId(index) },
      ...{ chainId: 1, lp: LP, token: LP, amount: 1n, until: until(index) },
    });
  /** The quotes that the execution of another one would end. */
  const ended = (index: number) => open.executed(group(index), quoteId(TAKERS)).get('lp-1') ?? [];
  expect(open.size()).toBe(TAKERS);
  expect(ended(TAKERS - 1)).toEqual([quoteId(TAKERS - 1)]);
  open.expire(NOW + 6);
  expect(open.size()).toBe(100);
  expect([ended(0), ended(100)]).toEqual([[quoteId(0)], []]);
  open.expire(NOW + 601);
  expect(open.size()).toBe(0);
  expect(ended(1)).toEqual([]);
  expect(open.promised(1, LP, LP, '')).toBe(0n);
});

test('takers that a key invents count as that key', () => {
  const open = createOpenQuotes({ publishSoon() {} });
  const limits = { count: 2_000, notionalUsd: 1e12 };
  let admitted = 0;
  for (let index = 0; index < TAKERS; index++)
    try {
      open.reserve('key-1', limits, NOW);
      open.addOfKey(nonceGroupOf(1, taker(index), 1n), 'key-1', 1, until(index));
      open.release('key-1');
      admitted++;
    } catch {
      // Refused: the key has its live quotes.
    }
  expect(admitted).toBe(limits.count);
});
