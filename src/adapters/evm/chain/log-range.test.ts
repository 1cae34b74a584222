/** The range of a request for logs shrinks to what the node takes. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UpstreamError } from '../../../domain/errors.ts';
import { RpcRefusal } from '../rpc/rpc.ts';
import { createLogRange } from './log-range.ts';

const refusal = (message: string, rpcCode = -32_000) =>
  new RpcRefusal({ method: 'eth_getLogs', params: [{}], rpcCode, message, data: undefined });

/** Reads a range as the chain adapter does; returns the ranges that the node answered. */
function read(
  range: ReturnType<typeof createLogRange>,
  first: bigint,
  last: bigint,
  answer: (from: bigint, to: bigint) => RpcRefusal | undefined,
): [bigint, bigint][] {
  const answered: [bigint, bigint][] = [];
  for (let from = first; from <= last;) {
    const to = range.endOf(from, last);
    const refused = answer(from, to);
    if (refused) {
      if (!range.shrink(from, to, refused)) throw refused;
      continue;
    }
    answered.push([from, to]);
    from = to + 1n;
  }
  return answered;
}

test('law: whatever the limit of the node, every block is read once and the limit is remembered', () => {
  fc.assert(
    fc.property(fc.bigInt(1n, 3_000n), fc.bigInt(0n, 5_000n), fc.bigInt(0n, 6_000n), (limit, first, more) => {
      const range = createLogRange();
      let refusals = 0;
      const answer = (from: bigint, to: bigint) => {
        if (to - from + 1n <= limit) return undefined;
        refusals += 1;
        return refusal(`range ${to - from + 1n} exceeds limit of ${limit}`, -32_602);
      };
      const answered = read(range, first, first + more, answer);
      let next = first;
      for (const [from, to] of answered) {
        expect(from).toBe(next);
        next = to + 1n;
      }
      expect(next).toBe(first + more + 1n);
      expect(refusals).toBeLessThanOrEqual(12);
      const before = refusals;
      read(range, first, first + more, answer);
      expect(refusals).toBe(before);
    }),
  );
});

test.each([
  ['this block range should work: [0x10, 0x203]', 500n],
  ['Try with this block range [0x10, 0x1f].', 16n],
  ['query exceeds max results 20000, retry with the range 16-115', 100n],
])('a range that the node names is taken: %s', (words, blocks) => {
  const range = createLogRange();
  expect(range.shrink(16n, 2_015n, refusal(`block range: ${words}`))).toBe(true);
  expect(range.endOf(16n, 9_999n)).toBe(16n + blocks - 1n);
});

test.each([
  ['the same range again', 'query exceeds max results 20000, retry with the range 16-2015'],
  ['a range of other blocks', 'this block range should work: [0x1000, 0x1001]'],
  ['a range that ends before it begins', 'this block range should work: [0x10, 0x1]'],
])('%s is no help, so the range is halved', (_, words) => {
  const range = createLogRange();
  expect(range.shrink(16n, 2_015n, refusal(words))).toBe(true);
  expect(range.endOf(16n, 9_999n)).toBe(1_015n);
});

test('a node that refuses even one block teaches nothing: later requests are as large as before', () => {
  const range = createLogRange();
  expect(() => read(range, 0n, 9_999n, () => refusal('block range is too wide'))).toThrow('too wide');
  expect(range.endOf(0n, 9_999n)).toBe(1_999n);
});

test("one block that is refused, and every other failure, is the caller's", () => {
  const range = createLogRange();
  expect(range.shrink(5n, 5n, refusal('block range is too wide'))).toBe(false);
  expect(range.shrink(5n, 9n, refusal('request rate limited'))).toBe(false);
  expect(range.shrink(5n, 9n, new UpstreamError('away', { code: 'rpc_unavailable' }))).toBe(false);
  expect(range.endOf(0n, 9_999n)).toBe(1_999n);
});
