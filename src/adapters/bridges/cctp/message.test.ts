/** Every field of a burn message is read, written and compared. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Hex } from '../../../domain/hex.ts';
import {
  type BurnMessage,
  decodeBurnMessage,
  differences,
  encodeBurnMessage,
  spliceBody,
} from './message.ts';

const bytes = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((all): Hex => `0x${Buffer.from(all).toString('hex')}`);
const uint = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n });
const arbMessage: fc.Arbitrary<BurnMessage> = fc.record({
  version: uint(32),
  sourceDomain: uint(32),
  destinationDomain: uint(32),
  nonce: bytes(32),
  sender: bytes(32),
  recipient: bytes(32),
  destinationCaller: bytes(32),
  minFinality: uint(32),
  finality: uint(32),
  bodyVersion: uint(32),
  burnToken: bytes(32),
  mintRecipient: bytes(32),
  amount: uint(256),
  messageSender: bytes(32),
  maxFee: uint(256),
  fee: uint(256),
  expirationBlock: uint(256),
  hookData: fc.oneof(fc.constant<Hex>('0x'), bytes(1), bytes(77)),
});

test('law: what is written is read again', () => {
  fc.assert(
    fc.property(arbMessage, (message) => {
      expect(decodeBurnMessage(encodeBurnMessage(message))).toEqual(message);
    }),
  );
});

test('bytes that are no burn message are not read', () => {
  fc.assert(
    fc.property(arbMessage, fc.nat({ max: 375 }), (message, kept) => {
      expect(decodeBurnMessage(encodeBurnMessage(message).slice(0, 2 + 2 * kept) as Hex)).toBeUndefined();
    }),
  );
  for (const text of ['0x', 'PENDING', `0x${'zz'.repeat(376)}`, `0x${'00'.repeat(376)}0`])
    expect(decodeBurnMessage(text as Hex)).toBeUndefined();
});

test('law: each difference in one field is named, and only that one', () => {
  const filledIn = new Set<keyof BurnMessage>(['nonce', 'finality', 'fee', 'expirationBlock']);
  fc.assert(
    fc.property(arbMessage, arbMessage, (message, other) => {
      const attested = { ...message, fee: message.maxFee, finality: message.minFinality };
      for (const field of Object.keys(message) as (keyof BurnMessage)[]) {
        if (filledIn.has(field) || message[field] === other[field]) continue;
        const found = differences({ ...message, [field]: other[field] }, attested);
        // A smaller fee or a later finality that was asked for also makes the filled in one wrong.
        expect(found.filter((name) => !filledIn.has(name))).toEqual([field]);
      }
    }),
  );
});

test('what the attester fills in is held to what was asked for', () => {
  fc.assert(
    fc.property(arbMessage, (message) => {
      fc.pre(message.maxFee < 2n ** 256n - 1n && message.minFinality > 0n);
      const sent = { ...message, nonce: `0x${'00'.repeat(32)}` as Hex, finality: 0n, fee: 0n };
      const right = {
        ...sent,
        nonce: `0x${'01'.repeat(32)}` as Hex,
        finality: sent.minFinality,
        fee: sent.maxFee,
      };
      expect(differences(sent, right)).toEqual([]);
      expect(differences(sent, { ...right, fee: sent.maxFee + 1n })).toEqual(['fee']);
      expect(differences(sent, { ...right, finality: sent.minFinality - 1n })).toEqual(['finality']);
      expect(differences(sent, { ...right, nonce: sent.nonce })).toEqual(['nonce']);
    }),
  );
});

test('a body under the header of a message is the message again', () => {
  fc.assert(
    fc.property(arbMessage, arbMessage, (header, body) => {
      const bodyBytes: Hex = `0x${encodeBurnMessage(body).slice(2 + 2 * 148)}`;
      const joined = spliceBody(header, bodyBytes) as BurnMessage;
      expect([joined.nonce, joined.sender, joined.amount, joined.hookData]).toEqual([
        header.nonce,
        header.sender,
        body.amount,
        body.hookData,
      ]);
    }),
  );
});
