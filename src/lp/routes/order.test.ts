/**
 * An order from the maker's side: what we write reads back as ours, and what it earns is what the escrow
 * divides.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeContext } from '../../domain/context.ts';
import { addressToBytes32, type Address } from '../../domain/hex.ts';
import type { MandateOutput, StandardOrder } from '../../domain/order.ts';
import { ownSlice } from './order.ts';

const address = (digit: string): Address => `0x${digit.repeat(40)}`;
const [us, them, escrow, token, user] = [
  address('1'),
  address('2'),
  address('3'),
  address('4'),
  address('5'),
];
const chains = new Map([[7, { escrow }]]);

function output(
  exclusiveFor: Address,
  portionBps: number,
  {
    feeBps = 2,
    relayFee = 0n,
    amount = 100n,
    settler = escrow,
    chainId = 7n,
  }: { feeBps?: number; relayFee?: bigint; amount?: bigint; settler?: Address; chainId?: bigint } = {},
): MandateOutput {
  return {
    oracle: addressToBytes32(escrow),
    settler: addressToBytes32(settler),
    chainId,
    token: addressToBytes32(token),
    amount,
    recipient: addressToBytes32(user),
    callbackData: '0x',
    context: encodeContext({ exclusiveFor, startTime: 101, portionBps, feeBps, relayFee }),
  };
}

const order = (amount: bigint, ...outputs: MandateOutput[]): StandardOrder => ({
  user,
  nonce: 9n,
  originChainId: 7n,
  expires: 200,
  fillDeadline: 100,
  inputOracle: escrow,
  inputs: [[BigInt(token), amount]],
  outputs,
});

test('the whole input: less the platform fee, rounded down, less the relay fee', () => {
  const slice = ownSlice(order(10_001n, output(us, 10_000, { relayFee: 5n, amount: 77n })), us, chains);
  expect(slice).toMatchObject({
    index: 0,
    portion: 10_001n,
    pays: { chainId: 7, token, amount: 77n },
    earns: { chainId: 7, token, amount: 10_001n - 2n - 5n },
  });
});

test('law: slices divide the input exactly; the last one takes the rounding', () => {
  fc.assert(
    fc.property(
      fc.bigInt(1n, 10n ** 30n),
      fc.integer({ min: 1, max: 9_999 }),
      fc.integer({ min: 0, max: 100 }),
      (amount, bps, feeBps) => {
        const split = order(amount, output(us, bps, { feeBps }), output(them, 10_000 - bps, { feeBps }));
        const [first, second] = [ownSlice(split, us, chains), ownSlice(split, them, chains)];
        expect(first?.portion).toBe((amount * BigInt(bps)) / 10_000n);
        expect((first?.portion ?? 0n) + (second?.portion ?? 0n)).toBe(amount);
        for (const slice of [first, second])
          expect(slice?.earns.amount).toBe(
            (slice?.portion ?? 0n) - ((slice?.portion ?? 0n) * BigInt(feeBps)) / 10_000n,
          );
      },
    ),
  );
});

test('rejects an order that is not exactly one slice of ours', () => {
  const mine = output(us, 10_000);
  expect(ownSlice(order(100n, output(them, 10_000)), us, chains)).toBeUndefined();
  expect(ownSlice(order(100n, output(us, 5_000), output(us, 5_000)), us, chains)).toBeUndefined();
  expect(ownSlice(order(100n, output(us, 10_000, { settler: them })), us, chains)).toBeUndefined();
  expect(ownSlice(order(100n, output(us, 10_000, { chainId: 8n })), us, chains)).toBeUndefined();
  expect(ownSlice(order(100n, output(us, 10_000, { relayFee: 101n })), us, chains)).toBeUndefined();
  expect(ownSlice(order(100n, mine, { ...mine, context: '0x' }), us, chains)).toBeUndefined();
  expect(
    ownSlice(
      {
        ...order(100n, mine),
        inputs: [
          [BigInt(token), 1n],
          [BigInt(us), 1n],
        ],
      },
      us,
      chains,
    ),
  ).toBeUndefined();
  expect(ownSlice({ ...order(100n, mine), inputs: [[1n << 160n, 1n]] }, us, chains)).toBeUndefined();
});
