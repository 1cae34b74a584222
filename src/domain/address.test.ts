/** EIP-55: a mistyped mixed-case address is recognised. */

import fc from 'fast-check';
import { getAddress } from 'viem';
import { expect, test } from 'vitest';
import { checksummed, isMistyped, toAddress } from './address.ts';
import type { Address } from './hex.ts';

const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes): Address => `0x${Buffer.from(bytes).toString('hex')}`);

test('law: the checksum is that of another implementation, and no spelling with it or without is mistyped', () => {
  fc.assert(
    fc.property(address, (plain) => {
      const mixed = checksummed(plain);
      expect(mixed).toBe(getAddress(plain));
      for (const spelling of [mixed, plain, `0x${plain.slice(2).toUpperCase()}`]) {
        expect(isMistyped(spelling)).toBe(false);
        expect(toAddress(spelling)).toBe(plain);
      }
    }),
  );
});

test('law: a letter in the other case is found, as long as both cases remain', () => {
  fc.assert(
    fc.property(address, fc.nat(39), (plain, at) => {
      const mixed = checksummed(plain);
      const digit = mixed.charAt(2 + at);
      const other = digit === digit.toUpperCase() ? digit.toLowerCase() : digit.toUpperCase();
      const changed = `${mixed.slice(0, 2 + at)}${other}${mixed.slice(3 + at)}`;
      fc.pre(changed !== mixed && /[a-f]/.test(changed.slice(2)) && /[A-F]/.test(changed));
      expect(isMistyped(changed)).toBe(true);
      expect(() => toAddress(changed)).toThrow('EIP-55 checksum is wrong');
    }),
  );
});

test('a mistyped digit of a well-known address is found', () => {
  const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
  expect(isMistyped(usdc)).toBe(false);
  expect(isMistyped(usdc.replace('48', '49'))).toBe(true);
  expect(isMistyped('0x123')).toBe(false);
});
