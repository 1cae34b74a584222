import { encodeErrorResult } from 'viem';
import { expect, test } from 'vitest';
import { SettlementError } from '../../domain/errors.ts';
import type { Hex } from '../../domain/hex.ts';
import { escrowAbi } from '../../settlement/abi/escrow.ts';
import { createTakenSteps } from './taken.ts';

const ORDER: Hex = `0x${'11'.repeat(32)}`;
const OTHER: Hex = `0x${'22'.repeat(32)}`;
const refusal = (data: Hex) =>
  new SettlementError('The chain would refuse this.', {
    code: 'would_revert',
    retry: 'never',
    facts: { data },
  });
const claimed = refusal(
  encodeErrorResult({ abi: escrowAbi, errorName: 'InvalidOrderStatus', args: [ORDER, 2] }),
);
const refunded = refusal(
  encodeErrorResult({ abi: escrowAbi, errorName: 'InvalidOrderStatus', args: [ORDER, 3] }),
);
const late = refusal(encodeErrorResult({ abi: escrowAbi, errorName: 'FilledTooLate', args: [1, 2] }));

/** A chain of depth 3, and a step that the chain answers with `says`. */
function stage() {
  const taken = createTakenSteps();
  const at = { number: 100n, tries: 0, says: undefined as Error | undefined };
  const chain = { head: () => ({ number: at.number }), chain: { depth: 3 } } as never;
  const step = (orderId = ORDER) =>
    taken.unlessTaken(orderId, chain, async () => {
      at.tries += 1;
      if (at.says) throw at.says;
    });
  return { at, step };
}

test('a step that another party has taken is tried once, and not at every head', async () => {
  const { at, step } = stage();
  at.says = claimed;
  for (at.number = 100n; at.number < 104n; at.number += 1n) expect(await step()).toBe(false);
  expect(at.tries).toBe(1);
  expect(await step(OTHER)).toBe(false);
  expect(at.tries).toBe(2);
});

test('beyond the depth it is tried again: what took it may have been undone', async () => {
  const { at, step } = stage();
  at.says = claimed;
  await step();
  at.says = undefined;
  at.number = 103n;
  expect(await step()).toBe(false);
  at.number = 104n;
  expect(await step()).toBe(true);
});

test('any other refusal, and trouble with the node, is told each time', async () => {
  const { at, step } = stage();
  for (const error of [late, refunded, new Error('no answer')]) {
    at.says = error;
    await expect(step()).rejects.toBe(error);
    await expect(step()).rejects.toBe(error);
  }
  expect(at.tries).toBe(6);
});
