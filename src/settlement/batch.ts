/** Calldata and results of the contract Batch: several settlements in one transaction. */

import { decodeEventLog, decodeFunctionResult, encodeFunctionData } from 'viem';
import type { Hex } from '../domain/hex.ts';
import { batchAbi } from './abi/batch.ts';

/** `gas`: limit of the settlement. `data`: calldata of settle or settleThrough. */
export function runCall(calls: readonly { gas: bigint; data: Hex }[]): Hex {
  return encodeFunctionData({ abi: batchAbi, functionName: 'run', args: [calls] });
}

/** Bit i of `failed` is set when call i reverted; `used`: gas of each, before refunds. */
export function readRun(answer: Hex): { failed: bigint; used: readonly bigint[] } {
  const [failed, used] = decodeFunctionResult({ abi: batchAbi, functionName: 'run', data: answer });
  return { failed, used };
}

/** Returns the bits of the calls that reverted, from the logs of the contract. */
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
