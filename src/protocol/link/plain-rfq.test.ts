/** The quick reader never says yes to what the schema would refuse or change. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readFromVenue, zRfq, type Rfq } from './link.ts';
import { plainRfq } from './plain-rfq.ts';

const address = `0x${'ab'.repeat(20)}`;
const rfq = {
  type: 'rfq',
  rfqId: '123',
  deadlineMs: 300,
  input: `eip155:8453/erc20:${address}`,
  output: `eip155:10/erc20:${address}`,
  side: 'exactInput',
  amount: '1000',
  taker: address,
  receiver: address,
  minValidUntil: null,
  platformFeeBps: 2,
  relayFee: '0',
  executionMode: 'apiSubmit',
  maxSplitParts: 1,
  skeleton: {
    nonce: '7',
    originChainId: 8453,
    inputOracle: address,
    outputOracle: address,
    settler: address,
    landingMarginSeconds: 30,
    proofWindowSeconds: 60,
  },
} as unknown as Rfq;

test('a request as our venue writes it is read the quick way', () => {
  expect(plainRfq(rfq)).toBe(rfq);
  expect(
    plainRfq({ ...rfq, minValidUntil: 1_795_281_142, side: 'exactOutput', executionMode: 'walletBroadcast' }),
  ).toBeDefined();
  expect(readFromVenue(JSON.stringify(rfq))).toEqual({ ok: true, message: rfq });
});

test('a request for a ledger delivery is read the quick way', () => {
  const delivery = { recipient: address, callbackData: `0x0101${'ab'.repeat(20)}` };
  const deferred = { ...rfq, skeleton: { ...rfq.skeleton, delivery } };
  expect(plainRfq(deferred)).toBe(deferred);
  expect(readFromVenue(JSON.stringify(deferred))).toEqual({ ok: true, message: deferred });
  for (const wrong of [
    null,
    {},
    { recipient: address },
    { ...delivery, callbackData: '0x010' },
    { ...delivery, callbackData: '0xAB' },
    { ...delivery, more: 1 },
    [address, '0x'],
  ]) {
    expect(plainRfq({ ...rfq, skeleton: { ...rfq.skeleton, delivery: wrong } })).toBeUndefined();
  }
});

test('law: whatever it accepts the schema returns unchanged', () => {
  const odd = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      undefined,
      '',
      '0',
      '00',
      '-1',
      '1.5',
      '1e3',
      ' 1',
      0,
      -1,
      1.5,
      2 ** 53,
      10_001,
      Number.NaN,
      true,
      [],
      {},
      address.toUpperCase(),
      `0x${'AB'.repeat(20)}`,
      `0x${'0'.repeat(40)}`,
      `eip155:0/erc20:${address}`,
      `eip155:1/erc20:0x${'0'.repeat(40)}`,
      `eip155:9999999999999999/erc20:${address}`,
      `eip155:1/erc20:${address.toUpperCase()}`,
      (2n ** 256n).toString(),
      (2n ** 256n - 1n).toString(),
      'x'.repeat(65),
      'rfq',
      'slice',
    ),
    fc.string(),
    fc.integer(),
    fc.double(),
  );
  let accepted = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.keys(rfq), 'extra', '__proto__'),
      fc.constantFrom(...Object.keys(rfq.skeleton), 'extra'),
      fc.boolean(),
      fc.boolean(),
      odd,
      (field, inner, inside, gone, value) => {
        const wrong: Record<string, unknown> = JSON.parse(JSON.stringify(rfq));
        const place = inside ? (wrong['skeleton'] as Record<string, unknown>) : wrong;
        const name = inside ? inner : field;
        if (gone) delete place[name];
        else
          Object.defineProperty(place, name, { value, enumerable: true, configurable: true, writable: true });
        const quick = plainRfq(wrong);
        if (quick === undefined) return;
        accepted += 1;
        expect(zRfq.parse(wrong)).toEqual(quick);
      },
    ),
    { numRuns: 5_000 },
  );
  expect(accepted).toBeGreaterThan(50);
});
