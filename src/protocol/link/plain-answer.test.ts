/** The quick reader of quotes never says yes to what the schema would refuse or change. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LinkQuote, readFromSolver, zQuote } from './link.ts';
import { plainAnswer } from './plain-answer.ts';

const address = `0x${'ab'.repeat(20)}`;
const word = `0x${'cd'.repeat(32)}`;
const quote = {
  type: 'quote',
  rfqId: '123',
  quoteId: word,
  order: {
    user: address,
    nonce: '7',
    originChainId: '8453',
    expires: 1_795_281_200,
    fillDeadline: 1_795_281_150,
    inputOracle: address,
    inputs: [['11', '1000']],
    outputs: [
      {
        oracle: word,
        settler: word,
        chainId: '10',
        token: word,
        amount: '999',
        recipient: word,
        callbackData: '0x',
        context: '0xe2',
      },
    ],
  },
  validUntil: 1_795_281_142,
  eta: 2,
  lpSpreadBps: -3,
  amountBeforeFees: '1000',
  commitment: { lp: address, deadline: 1_795_281_150, signature: `0x${'ef'.repeat(65)}` },
} as unknown as LinkQuote;

test('a quote as our LP writes it is read the quick way', () => {
  expect(plainAnswer(quote)).toBe(quote);
  for (const more of [true, false]) expect(plainAnswer({ ...quote, more })).toBeDefined();
  expect(plainAnswer({ ...quote, eta: null })).toBeDefined();
  expect(readFromSolver(JSON.stringify(quote))).toEqual({ ok: true, message: quote });
});

test('law: whatever it accepts the schema returns unchanged', () => {
  const odd = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      '',
      '0',
      '00',
      '-1',
      '1.5',
      ' 1',
      0,
      -1,
      1.5,
      2 ** 32,
      2 ** 53,
      true,
      [],
      {},
      [[]],
      [null],
      [['1']],
      [['1', '2', '3']],
      [['1', '2']],
      [{}],
      address,
      address.toUpperCase(),
      `0x${'AB'.repeat(20)}`,
      word,
      `0x${'AB'.repeat(32)}`,
      '0x',
      '0x0',
      '0xAB',
      (2n ** 256n).toString(),
      (2n ** 256n - 1n).toString(),
      'x'.repeat(65),
      'quote',
      'decline',
    ),
    fc.string(),
    fc.integer(),
    fc.double(),
  );
  const places: ((root: typeof quote) => object)[] = [
    (root) => root,
    (root) => root.order,
    (root) => root.order.inputs[0] as object,
    (root) => root.order.outputs[0] as object,
    (root) => root.commitment,
  ];
  const names = [
    ...new Set([...places.flatMap((place) => Object.keys(place(quote))), 'more', 'extra', '__proto__']),
  ];
  let accepted = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...places),
      fc.constantFrom(...names),
      fc.boolean(),
      odd,
      (place, name, gone, value) => {
        const wrong = JSON.parse(JSON.stringify(quote)) as LinkQuote;
        const target = place(wrong);
        if (gone) Reflect.deleteProperty(target, name);
        else
          Object.defineProperty(target, name, {
            value,
            enumerable: true,
            configurable: true,
            writable: true,
          });
        // What arrives was text: arrays have no names of their own there.
        const sent = JSON.parse(JSON.stringify(wrong)) as object;
        const quick = plainAnswer(sent);
        if (quick === undefined) return;
        accepted += 1;
        expect(zQuote.parse(sent)).toEqual(quick);
      },
    ),
    { numRuns: 10_000 },
  );
  expect(accepted).toBeGreaterThan(50);
});
