/** The receiver of a trade, as its signed order names it. */

import { readDelivery } from '../../domain/delivery.ts';
import type { Address } from '../../domain/hex.ts';
import type { StandardOrder } from '../../domain/order.ts';

/** All outputs of a venue's order go to one receiver, in its wallet or in the ledger. */
export function receiverOf({ outputs, user }: StandardOrder): Address {
  const [output] = outputs;
  return (output && readDelivery(output)?.account) ?? user;
}
