/** What is remembered of orders is bounded in bytes, whatever strangers put into theirs. */

import { expect, test } from 'vitest';
import type { Bytes32, Hex } from '../../../domain/hex.ts';
import type { EscrowEvent } from '../../../ports/chain.ts';
import { createOrderEventCache, cacheableEvent, type CachedOrderEvent } from './event-cache.ts';

const word = (n: number): Bytes32 => `0x${n.toString(16).padStart(64, '0')}`;

function event<Kind extends 'open' | 'filled' | 'finalised'>(
  kind: Kind,
  n: number,
  callbackData: Hex = '0x',
): CachedOrderEvent {
  const output = {
    oracle: word(1),
    settler: word(1),
    chainId: 1n,
    token: word(1),
    amount: 1n,
    recipient: word(1),
    callbackData,
    context: '0x' as const,
  };
  const order = {
    user: `0x${'ab'.repeat(20)}` as const,
    nonce: 1n,
    originChainId: 1n,
    expires: 9,
    fillDeadline: 8,
    inputOracle: `0x${'ab'.repeat(20)}` as const,
    inputs: [],
    outputs: [output],
  };
  const place = {
    blockNumber: BigInt(n),
    blockHash: word(n),
    txHash: word(n),
    logIndex: 0,
    orderId: word(n),
  };
  const all: Record<typeof kind, EscrowEvent> = {
    open: { ...place, kind: 'open', order },
    filled: { ...place, kind: 'filled', solver: word(1), timestamp: 7, output, amount: 1n },
    finalised: { ...place, kind: 'finalised' },
  } as Record<typeof kind, EscrowEvent>;
  return cacheableEvent(all[kind]) as CachedOrderEvent;
}

test('finds each event of an order once', () => {
  const memory = createOrderEventCache();
  const finalised = event('finalised', 1);
  expect([
    memory.add(finalised),
    memory.add({ ...finalised }),
    memory.add({ ...finalised, blockHash: word(99) }),
    memory.add(event('finalised', 2)),
  ]).toEqual([true, false, true, true]);
  expect(memory.of(word(1))).toHaveLength(2);
  expect(memory.of(word(3))).toEqual([]);
});

test('many large fills evict the oldest ones, within the memory limit', () => {
  const kilobytes = 100;
  const memory = createOrderEventCache({ mostBytes: 2 ** 20 });
  const callbackData: Hex = `0x${'ab'.repeat(kilobytes * 512)}`;
  for (let n = 1; n <= 50; n++) memory.add(event('filled', n, callbackData));
  const kept = Array.from({ length: 50 }, (_, n) => memory.of(word(n + 1)).length);
  const bytes = kept.filter(Boolean).length * callbackData.length;
  expect(bytes).toBeLessThanOrEqual(2 ** 20);
  expect(bytes).toBeGreaterThan(2 ** 19);
  expect(kept.slice(-5)).toEqual([1, 1, 1, 1, 1]);
});

test('keeps only the fact that an order was opened', () => {
  expect(event('open', 1)).not.toHaveProperty('order');
});
