import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readMessage } from './book-ticker.ts';
import { createSequence } from './format.ts';

const ticker = (change: object = {}) => ({
  u: 400_900_217,
  s: 'ETHUSDT',
  b: '2500.10000000',
  B: '31.21000000',
  a: '2500.11000000',
  A: '40.66000000',
  ...change,
});
const read = (data: object) => readMessage(JSON.stringify(data));

describe('readMessage', () => {
  const good = {
    kind: 'ticker',
    ticker: { symbol: 'ETHUSDT', bid: '2500.10000000', ask: '2500.11000000', update: 400_900_217 },
  };
  test('a bare message', () => expect(read(ticker())).toEqual(good));
  test('inside the envelope of a combined stream', () =>
    expect(read({ stream: 'ethusdt@bookTicker', data: ticker() })).toEqual(good));

  test('an exponent and many digits', () =>
    expect(read(ticker({ b: '2.5e3', a: '2500.1234567890123456789' }))).toMatchObject({
      ticker: { bid: '2500', ask: '2500.1234567890123456789' },
    }));

  test.each([
    ['crossed', ticker({ b: '2500.12000000' }), 'crossed'],
    ['locked', ticker({ b: '2500.11' }), 'crossed'],
    ['no bid', ticker({ b: '0.00000000' }), 'empty'],
    ['nothing at the ask', ticker({ A: '0.00000000' }), 'empty'],
    ['a number for a price', ticker({ b: 2500.1 }), 'malformed'],
    ['negative', ticker({ a: '-1' }), 'malformed'],
    ['endless digits', ticker({ a: `2500.${'1'.repeat(80)}` }), 'malformed'],
    ['below 1e-18', ticker({ b: '1e-19' }), 'out_of_range'],
    ['update beyond 2^53', ticker({ u: 2 ** 53 }), 'malformed'],
    ['update as text', ticker({ u: '1' }), 'malformed'],
    ['no sizes', { u: 1, s: 'ETHUSDT', b: '1', a: '2' }, 'malformed'],
  ])('refused: %s', (_name, data, why) =>
    expect(read({ stream: 'ethusdt@bookTicker', data })).toEqual({ kind: 'refused', why, symbol: 'ETHUSDT' }),
  );

  test.each([
    '',
    'null',
    '[]',
    '1',
    '{"stream":"ethusdt@bookTicker"}',
    '{"stream":"x@bookTicker","data":[1]}',
    '{"u":1,',
  ])('refused: %s', (text) =>
    expect(readMessage(text)).toEqual({ kind: 'refused', why: 'malformed', symbol: null }),
  );
  test.each([
    [{ result: null, id: 1 }],
    [{ stream: 'ethusdt@depth@100ms', data: { e: 'depthUpdate', s: 'ETHUSDT', U: 1, u: 3, b: [], a: [] } }],
    [{ e: 'depthUpdate', s: 'ETHUSDT', U: 1, u: 3, b: [], a: [] }],
    [{ lastUpdateId: 1, bids: [], asks: [] }],
  ])('other: %j', (data) => expect(read(data).kind).toBe('other'));
  test('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((data) => JSON.stringify({ stream: 'x@bookTicker', data })),
        ),
        (text) => ['ticker', 'refused', 'other'].includes(readMessage(text).kind),
      ),
    );
  });
});

test('sequence: per symbol; a jump is normal, a repeat and a step back are refused', () => {
  const sequence = createSequence();
  expect([5, 5, 9, 8, 9, 10].map((update) => sequence.take('ETHUSDT', update))).toEqual([
    undefined,
    'duplicate',
    undefined,
    'out_of_order',
    'duplicate',
    undefined,
  ]);
  expect(sequence.take('BTCUSDT', 1)).toBeUndefined();
});
