/** Who a trade is for, as its signed order says. */

import { type Address, bytes32ToAddress } from '../domain/hex.ts';
import type { StandardOrder } from '../domain/order.ts';

/** All outputs of an order of ours go to one receiver. */
export function receiverOf({ outputs, user }: StandardOrder): Address {
  const [output] = outputs;
  return output ? bytes32ToAddress(output.recipient) : user;
}
