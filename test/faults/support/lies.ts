/**
 * False answers of a dishonest node: views of a contract, alone or in a bundle, and logs of events that never
 * happened.
 */

import {
  type Abi,
  type AbiEvent,
  decodeFunctionData,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  encodeFunctionResult,
  getAbiItem,
  multicall3Abi,
} from 'viem';
import type { Address, Bytes32, Hex } from '../../../src/domain/hex.ts';
import { escrowAbi } from '../../../src/settlement/abi/escrow.ts';
import type { RpcFault } from './rpc-proxy.ts';

type View = 'orderStatus' | 'fillRecord';

/** Answers every call to this contract that begins with this selector with this word. */
export function lieAbout(contract: Address, view: View, orderId: Bytes32, word: Hex): RpcFault {
  const start = encodeFunctionData({
    abi: escrowAbi,
    functionName: view,
    args: (view === 'orderStatus' ? [orderId] : [orderId, orderId]) as never,
  }).slice(0, 74);
  const isIt = (to: string, data: string) => to.toLowerCase() === contract && data.startsWith(start);
  return {
    do: 'lie',
    answer(honest, [call]) {
      const { to, data } = call as { to: Address; data: Hex };
      if (isIt(to, data)) return word;
      if (!data.startsWith('0x82ad56cb')) return honest;
      // In a bundle, only the matching part.
      const [calls] = decodeFunctionData({ abi: multicall3Abi, data }).args as unknown as [
        readonly { target: Address; callData: Hex }[],
      ];
      const results = decodeFunctionResult({
        abi: multicall3Abi,
        functionName: 'aggregate3',
        data: honest as Hex,
      });
      const told = results.map((result, index) =>
        isIt(calls[index]?.target ?? '', calls[index]?.callData ?? '')
          ? { success: true, returnData: word }
          : result,
      );
      return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result: told });
    },
  };
}

/** A log of our escrow as a node would show it, in a real block, of a transaction that does not exist. */
export function forgedLog(
  escrow: Address,
  block: { number: bigint; hash: Hex },
  name: 'Open' | 'OutputFilled',
  orderId: Bytes32,
  values: readonly unknown[],
): object {
  const { inputs } = getAbiItem({ abi: escrowAbi as Abi, name }) as AbiEvent;
  const unindexed = inputs.filter(({ indexed }) => indexed !== true);
  return {
    address: escrow,
    topics: encodeEventTopics({ abi: escrowAbi, eventName: name, args: { orderId } } as never),
    data: encodeAbiParameters(unindexed, values as never),
    blockNumber: `0x${block.number.toString(16)}`,
    blockHash: block.hash,
    transactionHash: `0x${'ab'.repeat(32)}`,
    transactionIndex: '0x0',
    logIndex: '0x63',
    removed: false,
  };
}

/** Adds it to every answer to eth_getLogs. */
export const addLog = (log: object): RpcFault => ({
  do: 'lie',
  answer: (honest) => [...(honest as object[]), log],
});
