/**
 * The quick reader of quote requests never says yes to what the schema would refuse, or makes something else
 * of it.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainRequest } from './plain-request.ts';
import { type QuoteRequest, zQuoteRequest } from '../api/quote.ts';

const address = `0x${'ab'.repeat(20)}`;
const [usdc, weth] = [`eip155:8453/erc20:${address}`, `eip155:10/erc20:0x${'cd'.repeat(20)}`];
const request = {
  taker: address,
  receiver: address,
  input: { asset: usdc, amount: '1000' },
  output: { asset: weth },
} as unknown as QuoteRequest;

test('a plain request is read the quick way, and as the schema reads it', () => {
  const { receiver: _, ...without } = request;
  for (const plain of [
    request,
    without,
    { ...request, input: { asset: usdc }, output: { asset: weth, amount: '7' } },
  ]) {
    expect(plainRequest(plain)).toBeDefined();
    expect(plainRequest(plain)).toEqual(zQuoteRequest.parse(plain));
  }
});

test('what is special, and what is wrong, is left to the schema', () => {
  const both = { ...request, output: { asset: weth, amount: '1' } };
  const neither = { ...request, input: { asset: usdc } };
  const same = { ...request, output: { asset: usdc } };
  const nothing = { ...request, input: { asset: usdc, amount: '0' } };
  for (const other of [
    both,
    neither,
    same,
    nothing,
    { ...request, maxCandidates: 3 },
    { ...request, minValidUntil: null },
    { ...request, solvers: {} },
    null,
    [],
    'x',
    1,
  ])
    expect(plainRequest(other)).toBeUndefined();
});

test('law: whatever it accepts the schema reads the same', () => {
  const odd = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      '',
      '0',
      '00',
      '1',
      '-1',
      '1.5',
      ' 1',
      0,
      1,
      true,
      [],
      {},
      { asset: usdc },
      { asset: weth, amount: '5' },
      { asset: weth, amount: '5', more: 1 },
      usdc,
      weth,
      address,
      address.toUpperCase(),
      `0x${'AB'.repeat(20)}`,
      `eip155:0/erc20:${address}`,
      `eip155:1/erc20:0x${'0'.repeat(40)}`,
      `eip155:9999999999999999/erc20:${address}`,
      (2n ** 256n).toString(),
      (2n ** 256n - 1n).toString(),
    ),
    fc.string(),
    fc.integer(),
    fc.double(),
  );
  const places: ((root: typeof request) => object)[] = [
    (root) => root,
    (root) => root.input,
    (root) => root.output,
  ];
  const names = [
    ...Object.keys(request),
    'asset',
    'amount',
    'maxCandidates',
    'minValidUntil',
    'extra',
    '__proto__',
  ];
  let accepted = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...places),
      fc.constantFrom(...names),
      fc.boolean(),
      odd,
      (place, name, gone, value) => {
        const wrong = JSON.parse(JSON.stringify(request)) as QuoteRequest;
        const target = place(wrong);
        if (gone) Reflect.deleteProperty(target, name);
        else
          Object.defineProperty(target, name, {
            value,
            enumerable: true,
            configurable: true,
            writable: true,
          });
        const sent = JSON.parse(JSON.stringify(wrong)) as object;
        const quick = plainRequest(sent);
        if (quick === undefined) return;
        accepted += 1;
        expect(zQuoteRequest.parse(sent)).toEqual(quick);
      },
    ),
    { numRuns: 5_000 },
  );
  expect(accepted).toBeGreaterThan(50);
});
