/** Who a trade is for, as its signed order says. */

import { readDelivery } from '../../domain/delivery.ts';
import type { Address } from '../../domain/hex.ts';
import type { StandardOrder } from '../../domain/order.ts';

/** All outputs of an order of ours go to one receiver, in its wallet or in the ledger. */
export function receiverOf({ outputs, user }: StandardOrder): Address {
  const [output] = outputs;
  return (output && readDelivery(output)?.account) ?? user;
}
