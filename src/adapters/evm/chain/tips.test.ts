/** The tip follows the market of the chain, and never a number of ours. */

import { expect, test } from 'vitest';
import { RpcRefusal } from '../rpc/rpc.ts';
import { createTips } from './tips.ts';

type Answers = Record<string, unknown>;

const refusal = (method: string) =>
  new RpcRefusal({ method, params: [], rpcCode: -32_601, message: 'method not found', data: undefined });

/** Answers of a node, which the test may change; what is missing is refused. */
function playedNode(answers: Answers) {
  const request = async <T>(method: string): Promise<T> => {
    if (!(method in answers)) throw refusal(method);
    return answers[method] as T;
  };
  return { request: request as <T>(method: string, params: readonly unknown[]) => Promise<T> };
}

const history = (...tips: bigint[]) => ({ reward: tips.map((tip) => [`0x${tip.toString(16)}`]) });

test('the median of what the last blocks paid, empty blocks left out', async () => {
  const tip = createTips(playedNode({ eth_feeHistory: history(0n, 5n, 900n, 7n, 0n) }));
  expect(await tip()).toBe(7n);
});

test('in empty blocks the suggestion of the node counts', async () => {
  const answers = { eth_feeHistory: history(0n, 0n), eth_maxPriorityFeePerGas: '0x5f5e100' };
  expect(await createTips(playedNode(answers))()).toBe(100_000_000n);
});

test.each([[{ reward: null }], [{}], [{ reward: [null, null] }]])(
  'a history without rewards is none: %o',
  async (empty) => {
    const answers = { eth_feeHistory: empty, eth_maxPriorityFeePerGas: '0x7' };
    expect(await createTips(playedNode(answers))()).toBe(7n);
  },
);

test('a node that refuses both once leaves the last known tip', async () => {
  const answers: Answers = { eth_feeHistory: history(5_000_000n) };
  const tip = createTips(playedNode(answers));
  expect(await tip()).toBe(5_000_000n);
  delete answers.eth_feeHistory;
  expect(await tip()).toBe(5_000_000n);
  answers.eth_feeHistory = history(6_000_000n);
  expect(await tip()).toBe(6_000_000n);
});

test('a quiet chain whose node suggests nothing takes one wei', async () => {
  expect(await createTips(playedNode({ eth_feeHistory: history(0n) }))()).toBe(1n);
});

test('a chain that tells no tip at all names no fee', async () => {
  await expect(createTips(playedNode({}))()).rejects.toMatchObject({ code: 'no_tip' });
});
