/** Writes the message that tells a solver of its order. */

import { InvariantError } from '../../domain/errors.ts';
import { orderToMessage } from '../../domain/order.ts';
import type { OrderRecord } from '../../ports/stores/store.ts';
import type { Award } from '../../protocol/link/link.ts';
import { progressOf } from './status.ts';

/** Repeats the solver's own signature, because it may have lost its memory. */
export function awardOf(record: OrderRecord, solverId: string): Award {
  const { stage, status } = progressOf(record);
  const commitment = record.commitments[record.solverIds.indexOf(solverId)];
  if (!commitment)
    throw new InvariantError('An award goes to a solver of the order.', {
      facts: { orderId: record.orderId, solverId },
    });
  return {
    type: 'award',
    orderId: record.orderId,
    quoteId: record.quoteId,
    order: orderToMessage(record.order) as Award['order'],
    signature: record.signature,
    funding: record.funding,
    status,
    stage,
    commitment,
  };
}
