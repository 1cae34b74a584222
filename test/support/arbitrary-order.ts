/** Draws random orders for law tests: every field over its whole range, contexts of every kind. */

import fc from 'fast-check';
import { encodeContext } from '../../src/domain/context.ts';
import { type Address, addressToBytes32, bytesToHex, type Bytes32 } from '../../src/domain/hex.ts';
import type { MandateOutput, StandardOrder } from '../../src/domain/order.ts';
import { MAX_UINT32 } from '../../src/domain/time.ts';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(bytesToHex);
export const arbAddress: fc.Arbitrary<Address> = bytes(20);
export const arbBytes32: fc.Arbitrary<Bytes32> = bytes(32);
const arbUint256 = fc.oneof(
  fc.bigInt(0n, (1n << 256n) - 1n),
  fc.bigInt(0n, 1_000_000n),
  fc.constantFrom(0n, 1n, (1n << 256n) - 1n, 1n << 64n, (1n << 64n) - 1n),
);
const uint32 = fc.integer({ min: 0, max: MAX_UINT32 });

const context = fc.oneof(
  fc.constant('0x' as const),
  fc.uint8Array({ maxLength: 80 }).map(bytesToHex),
  fc
    .record({
      exclusiveFor: arbAddress,
      startTime: uint32,
      portionBps: fc.nat(10_000),
      feeBps: fc.nat(100),
      relayFee: fc.bigInt(0n, (1n << 128n) - 1n),
    })
    .map(encodeContext),
);

const arbOutput: fc.Arbitrary<MandateOutput> = fc.record({
  oracle: arbBytes32,
  settler: arbAddress.map(addressToBytes32),
  chainId: arbUint256,
  token: arbBytes32,
  amount: arbUint256,
  recipient: arbBytes32,
  callbackData: fc.uint8Array({ maxLength: 100 }).map(bytesToHex),
  context,
});

export const arbOrder: fc.Arbitrary<StandardOrder> = fc.record({
  user: arbAddress,
  nonce: arbUint256,
  originChainId: arbUint256,
  expires: uint32,
  fillDeadline: uint32,
  inputOracle: arbAddress,
  inputs: fc.array(fc.tuple(arbUint256, arbUint256), { minLength: 1, maxLength: 3 }),
  outputs: fc.array(arbOutput, { minLength: 1, maxLength: 4 }),
});
