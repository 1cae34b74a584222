/** An order in the terms of ERC-7683, the cross-chain intents standard. */

import { encodeAbiParameters, getAbiItem } from 'viem';
import { addressToBytes32, type Address, type Bytes32, type Hex } from '../domain/hex.ts';
import { type MandateOutput, STANDARD_ORDER_TYPEHASH, type StandardOrder } from '../domain/order.ts';
import type { UnixSeconds } from '../domain/time.ts';
import { escrowAbi } from './abi/escrow.ts';

interface IntentOutput {
  token: Bytes32;
  amount: string;
  recipient: Bytes32;
  chainId: number;
}

/** `GaslessCrossChainOrder` and the result of `resolveFor`. */
interface Intent {
  originSettler: Address;
  user: Address;
  nonce: string;
  originChainId: number;
  openDeadline: UnixSeconds;
  fillDeadline: UnixSeconds;
  orderDataType: Bytes32;
  orderData: Hex;
  /** A filler gives at most this. */
  maxSpent: IntentOutput[];
  /** Fillers receive at least this, before fees, on the origin. */
  minReceived: IntentOutput[];
  fillInstructions: { destinationChainId: number; destinationSettler: Bytes32; originData: Hex }[];
}

const ORDER = [getAbiItem({ abi: escrowAbi, name: 'refund' }).inputs[0]] as const;
const OUTPUT = [{ ...getAbiItem({ abi: escrowAbi, name: 'fill' }).inputs[1], name: 'output' }] as const;

/** An order can be opened for as long as it can be filled. */
export function intentOf(escrow: Address, order: StandardOrder): Intent {
  const { user, nonce, originChainId, fillDeadline, inputs, outputs } = order;
  return {
    originSettler: escrow,
    user,
    nonce: nonce.toString(),
    originChainId: Number(originChainId),
    openDeadline: fillDeadline,
    fillDeadline,
    orderDataType: STANDARD_ORDER_TYPEHASH,
    orderData: encodeOrder(order),
    maxSpent: outputs.map(({ token, amount, recipient, chainId }) => ({
      token,
      amount: amount.toString(),
      recipient,
      chainId: Number(chainId),
    })),
    minReceived: inputs.map(([token, amount]) => ({
      token: `0x${token.toString(16).padStart(64, '0')}`,
      amount: amount.toString(),
      recipient: addressToBytes32(escrow),
      chainId: Number(originChainId),
    })),
    fillInstructions: outputs.map((output) => ({
      destinationChainId: Number(output.chainId),
      destinationSettler: output.settler,
      originData: encodeOutput(output),
    })),
  };
}

const encodeOrder = (order: StandardOrder): Hex =>
  encodeAbiParameters(ORDER, [
    {
      ...order,
      inputs: order.inputs.map(([token, amount]) => [token, amount] as const),
      outputs: [...order.outputs],
    },
  ]);
const encodeOutput = (output: MandateOutput): Hex => encodeAbiParameters(OUTPUT, [output]);
