/** Awards of the LP as rows of `lp_award`. */

import type { Hex } from '../../../domain/hex.ts';
import { type OrderMessage, orderToMessage } from '../../../domain/order.ts';
import type { LpAward } from '../../../ports/stores/lp-store.ts';
import { orderFromMessage } from '../../../protocol/wire.ts';
import type { Row } from '../pool.ts';
import { bytes, fromRow } from '../rows.ts';

export const AWARD_COLUMNS =
  'order_id, quote_id, message, output_index, commitment, stage, fill, note, accepted_at_ms, updated_at_ms';
export const OPEN_AWARDS = `select ${AWARD_COLUMNS} from lp_award where stage in ('committed', 'filled') order by accepted_at_ms, order_id`;

/** Returns the values of `AWARD_COLUMNS`, in their order. */
export const awardValues = (award: LpAward): unknown[] => [
  bytes(award.orderId),
  bytes(award.quoteId),
  JSON.stringify(orderToMessage(award.order)),
  award.outputIndex,
  award.commitment && JSON.stringify(award.commitment),
  award.stage,
  award.fill && JSON.stringify({ ...award.fill, blockNumber: award.fill.blockNumber.toString() }),
  award.note,
  award.acceptedAtMs,
  award.updatedAtMs,
];

interface StoredAward extends Omit<LpAward, 'order' | 'fill'> {
  message: OrderMessage;
  fill: { timestamp: number; txHash: Hex; blockNumber: string } | null;
}

export function toAward(row: Row): LpAward {
  const { message, fill, ...award } = fromRow<StoredAward>(row);
  return {
    ...award,
    order: orderFromMessage(message),
    fill: fill && { ...fill, blockNumber: BigInt(fill.blockNumber) },
  };
}
