/** Deliveries are written and read as the escrow reads them. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbAddress } from '../../test/support/arbitrary-order.ts';
import { type Delivery, readDelivery, recipientOf, SETTLEMENTS } from './delivery.ts';
import { addressToBytes32, type Hex } from './hex.ts';

const escrow = `0x${'e5'.repeat(20)}` as const;
const settler = addressToBytes32(escrow);
const account = `0x${'ac'.repeat(20)}` as const;

test('law: encode and decode round-trip', () => {
  fc.assert(
    fc.property(fc.constantFrom(...SETTLEMENTS), arbAddress, (settlement, who) => {
      const delivery: Delivery = { settlement, account: who };
      expect(readDelivery({ settler, ...recipientOf(delivery, escrow) })).toEqual(delivery);
    }),
  );
});

test("the bytes equal the contract's", () => {
  expect(recipientOf({ settlement: 'ledger', account }, escrow)).toEqual({
    recipient: settler,
    callbackData: `0x0100${'ac'.repeat(20)}`,
  });
  expect(recipientOf({ settlement: 'ledger_auto_withdraw', account }, escrow)).toEqual({
    recipient: settler,
    callbackData: `0x0101${'ac'.repeat(20)}`,
  });
  expect(recipientOf({ settlement: 'wallet', account }, escrow)).toEqual({
    recipient: addressToBytes32(account),
    callbackData: '0x',
  });
});

test('other bytes do not decode', () => {
  const bytes = (callbackData: Hex) => readDelivery({ settler, recipient: settler, callbackData });
  for (const callbackData of [
    '0x',
    '0x01',
    account,
    `0x0102${'ac'.repeat(20)}`,
    `0x0200${'ac'.repeat(20)}`,
    `0x0100${'ac'.repeat(19)}`,
    `0x0100${'ac'.repeat(21)}`,
  ] as Hex[])
    expect(bytes(callbackData), callbackData).toBeUndefined();
  expect(
    readDelivery({ settler, recipient: addressToBytes32(account), callbackData: '0x01' }),
  ).toBeUndefined();
});
