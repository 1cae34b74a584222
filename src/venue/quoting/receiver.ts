/** The receiver of a trade, as its signed order names it. */

import { readDelivery } from '../../domain/delivery.ts';
import type { Address } from '../../domain/hex.ts';
import type { StandardOrder } from '../../domain/order.ts';

/** All outputs of an order go to one receiver. */
export function receiverOf({ outputs, user }: StandardOrder): Address {
  const [output] = outputs;
  return (output && readDelivery(output)?.account) ?? user;
}
