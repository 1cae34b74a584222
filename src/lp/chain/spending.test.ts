/** The operator's limits as the chain says, read no more often than they can matter. */

import { expect, test } from 'vitest';
import { silentLog } from '../../../test/support/silent.ts';
import type { Chain } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import type { OperatorLimit } from '../../inventory/bucket.ts';
import { limitAt, type SpendingLimit } from '../../settlement/spending-limit.ts';
import { createSpending } from './spending.ts';

const [account, operator, usdc, weth] = ['1', '2', 'a', 'b'].map((digit) => `0x${digit.repeat(40)}`) as [
  Address,
  Address,
  Address,
  Address,
];

test('what is left: nothing below zero, all of it from the end of the window on', () => {
  const limit = { most: 100n, windowSeconds: 60, since: 1_000, spent: 70n };
  expect(limitAt(limit, 1_059)).toEqual({ most: 100n, left: 30n });
  expect(limitAt(limit, 1_060)).toEqual({ most: 100n, left: 100n });
  expect(limitAt({ ...limit, spent: 170n }, 1_059)).toEqual({ most: 100n, left: 0n });
  expect(limitAt({ ...limit, windowSeconds: 0 }, 1_000)).toEqual({ most: 100n, left: 100n });
});

function world(
  limits: Map<Address, SpendingLimit>,
  key = operator,
  /** What the final block says, where that differs. */
  final = new Map<Address, SpendingLimit>(),
) {
  let nowMs = 0;
  const told = new Map<Address, OperatorLimit | null>();
  const state = { asked: 0 };
  const warned: string[] = [];
  const spending = createSpending(
    {
      port: {
        chain: { id: 1, slug: 'chain1', depth: 2, tokens: [] } as unknown as Chain,
        operatorLimit: async (_, __, token, at) => {
          if (at !== undefined) return final.get(token) ?? limits.get(token);
          state.asked += 1;
          return limits.get(token);
        },
      },
      ledger: { setOperatorLimit: (_, token, limit) => void told.set(token, limit) },
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} },
      log: { ...silentLog, warn: (_: object, message: string) => void warned.push(message) },
    },
    { account, operator: key, tokens: [usdc, weth], everyMs: 10_000 },
  );
  let number = 0n;
  return {
    ...{ told, state, spending, warned },
    head: (timestamp: number) => spending.read({ number: (number += 1n), hash: '0x01', timestamp }),
    pass: (ms: number) => (nowMs += ms),
  };
}

test('with limits every block is read; without any now and then, and when the account changed something', async () => {
  const limits = new Map<Address, SpendingLimit>();
  const { head, pass, told, state, spending, warned } = world(limits);
  await head(1_000);
  expect(warned).toEqual([expect.stringContaining('the operator has no limits on this chain')]);
  expect([...told]).toEqual([
    [usdc, null],
    [weth, null],
  ]);
  pass(9_000);
  await head(1_009);
  expect(state.asked).toBe(2);
  const limit = { most: 100n, windowSeconds: 60, since: 1_000, spent: 40n };
  limits.set(usdc, limit).set(weth, { ...limit, most: 0n });
  spending.changed();
  await head(1_010);
  expect(told.get(usdc)).toEqual({ most: 100n, left: 60n });
  expect(told.get(weth)).toEqual({ most: 0n, left: 0n });
  await head(1_060);
  expect(told.get(usdc)).toEqual({ most: 100n, left: 100n });
  expect(state.asked).toBe(6);
  limits.clear();
  await head(1_061);
  pass(10_000);
  await head(1_071);
  expect([told.get(usdc), state.asked]).toEqual([null, 10]);
  expect(warned).toHaveLength(1);
});

test('says once for each window that a limit is used up', async () => {
  const limit = { most: 100n, windowSeconds: 60, since: 1_000, spent: 100n };
  const limits = new Map([[usdc, limit]]);
  const { head, warned } = world(limits);
  await head(1_000);
  await head(1_001);
  expect(warned).toEqual([expect.stringContaining('the operator has spent its limit')]);
  await head(1_060);
  limits.set(usdc, { ...limit, since: 1_060 });
  await head(1_061);
  expect(warned).toHaveLength(2);
});

test('the account itself has no limits and is not asked about', async () => {
  const { head, told, state, warned } = world(new Map(), account);
  await head(1_000);
  expect([told.get(usdc), state.asked, warned]).toEqual([null, 0, []]);
});

test('a raise counts once it is final, a smaller limit at once', async () => {
  const [limits, final] = [new Map<Address, SpendingLimit>(), new Map<Address, SpendingLimit>()];
  const { head, told } = world(limits, operator, final);
  const limit = (most: bigint): SpendingLimit => ({ most, windowSeconds: 60, since: 1_000, spent: 40n });
  limits.set(usdc, limit(100n));
  await head(1_001);
  expect(told.get(usdc)).toEqual({ most: 100n, left: 60n });
  final.set(usdc, limit(100n));
  limits.set(usdc, limit(500n));
  await head(1_002);
  expect(told.get(usdc)).toEqual({ most: 100n, left: 60n });
  limits.set(usdc, limit(70n));
  await head(1_003);
  expect(told.get(usdc)).toEqual({ most: 70n, left: 30n });
  limits.set(usdc, limit(500n));
  final.delete(usdc);
  await head(1_004);
  expect(told.get(usdc)).toEqual({ most: 500n, left: 460n });
});
