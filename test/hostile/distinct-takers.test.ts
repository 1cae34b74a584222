/** A hundred thousand distinct takers leave nothing in the venue's memory once their quotes have expired. */

import { nonceGroupOf } from '../../src/domain/order.ts';
import { expect, test } from 'vitest';
import { createNonceGroups } from '../../src/venue/market/nonce-groups.ts';
import { createOpenQuotes } from '../../src/venue/market/key-quotes.ts';
import { createPromisedOutputs } from '../../src/venue/market/open-quotes.ts';
import type { Address, Bytes32 } from '../../src/domain/hex.ts';

const TAKERS = 100_000;
const NOW = 1_000;
const LP = `0x${'11'.repeat(20)}` as Address;
const taker = (index: number) => `0x${index.toString(16).padStart(40, '0')}` as Address;
const quoteId = (index: number) => `0x${index.toString(16).padStart(64, '0')}` as Bytes32;
/** The first hundred ask for the longest validity. */
const until = (index: number) => NOW + (index < 100 ? 600 : 5);

test('promises and nonce groups end with their quotes, also behind groups that live longer', () => {
  const [promised, groups] = [createPromisedOutputs({ publishSoon() {} }), createNonceGroups()];
  for (let index = 0; index < TAKERS; index++) {
    const group = nonceGroupOf(1, taker(index), 1n);
    promised.add({ chainId: 1, lp: LP, token: LP, amount: 1n, group, until: until(index) });
    groups.add(group, 'lp-1', quoteId(index), until(index));
  }
  expect([promised.size(), groups.size()]).toEqual([TAKERS, TAKERS]);
  promised.expire(NOW + 6);
  groups.expire(NOW + 6);
  expect([promised.size(), groups.size()]).toEqual([100, 100]);
  promised.expire(NOW + 601);
  groups.expire(NOW + 601);
  expect([promised.size(), groups.size()]).toEqual([0, 0]);
  expect(promised.promised(1, LP, LP, '')).toBe(0n);
});

test('takers that a key invents count as that key', () => {
  const open = createOpenQuotes({ publishSoon() {} });
  const limits = { count: 2_000, notionalUsd: 1e12 };
  let admitted = 0;
  for (let index = 0; index < TAKERS; index++)
    try {
      open.reserve('key-1', limits, NOW);
      open.add('key-1', nonceGroupOf(1, taker(index), 1n), 1, until(index));
      open.release('key-1');
      admitted++;
    } catch {
      // Refused: the key has its live quotes.
    }
  expect(admitted).toBe(limits.count);
});
