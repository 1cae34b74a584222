/** Who a trade is for, as its signed order says. */

import { readDelivery } from '../domain/delivery.ts';
import { type Address, bytes32ToAddress } from '../domain/hex.ts';
import type { MandateOutput, StandardOrder } from '../domain/order.ts';

/** All outputs of an order of ours go to one receiver. */
export function receiverOf({ outputs, user }: StandardOrder): Address {
  const [output] = outputs;
  return output ? receiverOfOutput(output) : user;
}

/** Whose wallet or ledger balance an output goes to. */
export const receiverOfOutput = (output: MandateOutput): Address => readDelivery(output)?.account ?? bytes32ToAddress(output.recipient);
