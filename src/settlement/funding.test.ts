/** Locks: the choice, the encodings, and digests equal to viem's over the same typed data. */

import fc from 'fast-check';
import { hashTypedData } from 'viem';
import { describe, expect, test } from 'vitest';
import type { Hex } from '../domain/hex.ts';
import { permit2Address } from './abi/permit2.ts';
import {
  chooseLock,
  decodeFunding,
  eip3009TypedData,
  encodeFunding,
  type Funding,
  type FundingState,
  permit2LockTypedData,
} from './funding.ts';

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((value): Hex => `0x${Buffer.from(value).toString('hex')}`);
const anyHex = fc
  .uint8Array({ maxLength: 90 })
  .map((value): Hex => `0x${Buffer.from(value).toString('hex')}`);
const uint = (bits: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });
const escrow = { chainId: 31337, escrow: '0x5fbdb2315678afecb367f032d93f642f64180aa3' } as const;
const permit2 = permit2Address.toLowerCase() as Hex;

const funding: fc.Arbitrary<Funding> = fc.oneof(
  fc.constant<Funding>({ mode: 'self' }),
  fc.record({
    mode: fc.constantFrom('permit2Grant' as const, 'resourceLock' as const),
    orderSignature: anyHex,
  }),
  fc.record({
    mode: fc.constant('permit2Lock' as const),
    orderSignature: anyHex,
    deadline: uint(256),
    permitSignature: anyHex,
  }),
  fc.record({
    mode: fc.constant('eip3009' as const),
    orderSignature: anyHex,
    validAfter: uint(256),
    validBefore: uint(256),
    nonce: hex(32),
    authSignature: anyHex,
  }),
);

test('law: an encoded lock round-trips', () => {
  fc.assert(
    fc.property(funding, (value) => {
      expect(decodeFunding(encodeFunding(value))).toEqual(value);
    }),
  );
});

test('unknown modes and broken bytes decode to nothing', () => {
  expect(decodeFunding('0x00')).toBeUndefined();
  expect(decodeFunding('0x12ff')).toBeUndefined();
  expect(decodeFunding('0x')).toEqual({ mode: 'self' });
});

const order = fc.record({
  user: hex(20),
  nonce: uint(256),
  originChainId: fc.constant(31337n),
  expires: fc.nat({ max: 2 ** 31 - 1 }),
  fillDeadline: fc.nat({ max: 2 ** 31 - 1 }),
  inputOracle: hex(20),
  inputs: fc.array(fc.tuple(uint(160), uint(256)), { minLength: 1, maxLength: 3 }),
  outputs: fc.array(
    fc.record({
      oracle: hex(32),
      settler: hex(32),
      chainId: uint(64),
      token: hex(32),
      amount: uint(256),
      recipient: hex(32),
      callbackData: anyHex,
      context: anyHex,
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

test("law: the Permit2 digest is viem's", () => {
  fc.assert(
    fc.property(order, uint(256), (value, deadline) => {
      const { typedData, digest } = permit2LockTypedData(escrow, permit2, value, deadline);
      expect(hashTypedData(typedData as never)).toBe(digest);
    }),
    { numRuns: 50 },
  );
});

test("law: the EIP-3009 digest is viem's", () => {
  const authorization = fc.record({
    from: hex(20),
    to: hex(20),
    value: uint(256),
    validAfter: uint(256),
    validBefore: uint(256),
    nonce: hex(32),
  });
  fc.assert(
    fc.property(authorization, (value) => {
      const { typedData, digest } = eip3009TypedData(
        { chainId: 31337, address: escrow.escrow, name: 'USD Coin', version: '2' },
        value,
      );
      expect(hashTypedData(typedData as never)).toBe(digest);
    }),
    { numRuns: 50 },
  );
});

describe('choice', () => {
  const state: FundingState = {
    amount: 100n,
    ledgerAvailable: 0n,
    tokenBalance: 100n,
    hasEip3009: true,
    takerHasCode: false,
    permit2TokenAllowance: 0n,
    permit2Grant: { amount: 0n, expiration: 0 },
    fillDeadline: 1_000,
  };
  test.each<[string, Partial<FundingState>, object]>([
    ['ledger balance first', { ledgerAvailable: 100n }, { lock: 'ResourceLock', mode: 'resourceLock' }],
    ['not when one unit short', { ledgerAvailable: 99n }, { lock: 'EIP-3009' }],
    ['EIP-3009 for plain accounts', {}, { lock: 'EIP-3009', mode: 'eip3009', needsTokenApproval: false }],
    [
      'contract wallets use Permit2',
      { takerHasCode: true },
      { lock: 'Permit2', mode: 'permit2Lock', needsTokenApproval: true },
    ],
    [
      'a standing grant',
      { hasEip3009: false, permit2TokenAllowance: 100n, permit2Grant: { amount: 100n, expiration: 1_000 } },
      { lock: 'Permit2', mode: 'permit2Grant', needsTokenApproval: false },
    ],
    [
      'a grant that ends too early',
      { hasEip3009: false, permit2TokenAllowance: 100n, permit2Grant: { amount: 100n, expiration: 999 } },
      { mode: 'permit2Lock' },
    ],
    [
      'a grant that is too small',
      { hasEip3009: false, permit2TokenAllowance: 100n, permit2Grant: { amount: 99n, expiration: 2_000 } },
      { mode: 'permit2Lock' },
    ],
    ['an empty wallet', { tokenBalance: 99n }, { lock: 'EIP-3009', mode: 'eip3009' }],
  ])('%s', (_, change, expected) => {
    expect(chooseLock({ ...state, ...change })).toMatchObject(expected);
  });
});
