/** Several settlements in one transaction: calldata of the contract Batch, and what it says about them. */

import { decodeEventLog, decodeFunctionResult, encodeFunctionData } from 'viem';
import type { Hex } from '../domain/hex.ts';
import { batchAbi } from './abi/batch.ts';

/** `gas`: what the settlement may use at most. `data`: of settle or settleThrough, selector included. */
export function runCall(calls: readonly { gas: bigint; data: Hex }[]): Hex {
  return encodeFunctionData({ abi: batchAbi, functionName: 'run', args: [calls] });
}

/** What `run` answers: bit i of `failed` is set when call i reverted; gas that each took, before refunds. */
export function readRun(answer: Hex): { failed: bigint; used: readonly bigint[] } {
  const [failed, used] = decodeFunctionResult({ abi: batchAbi, functionName: 'run', data: answer });
  return { failed, used };
}

/** Of the logs that the contract left in a transaction: which calls reverted, as in `readRun`. */
export function failedIn(logs: readonly { topics: readonly Hex[]; data: Hex }[]): bigint {
  const log = logs[0];
  if (!log) return 0n;
  return decodeEventLog({
    abi: batchAbi,
    eventName: 'Failed',
    topics: log.topics as [Hex, ...Hex[]],
    data: log.data,
  }).args.calls;
}
