/** An order event as the stream and webhooks tell it. */

import type { Chain } from '../../domain/chain.ts';
import { toIso } from '../../domain/time.ts';
import type { OrderEvent, OrderRecord, PlacedEvent } from '../../ports/stores/store.ts';
import { statusResponse } from '../orders/status.ts';

/** Returns the frame without its beginning, which names the topic. It is the same on all topics. */
export function orderEventBody(
  { type, seq, occurredAtMs }: OrderEvent,
  record: OrderRecord,
  chains: ReadonlyMap<number, Chain>,
): string {
  return JSON.stringify({
    type,
    seq,
    orderId: record.orderId,
    occurredAt: toIso(occurredAtMs),
    data: statusResponse(record, chains, occurredAtMs),
  }).slice(1);
}

/** Frames an event for the topic `orders`. */
export const workspaceFrame = ({ place }: Pick<PlacedEvent, 'place'>, body: string): string =>
  `{"topic":"orders","cursor":"${place}",${body}`;
/** Frames an event for the topic `orders:{id}`. */
export const orderFrame = ({ orderId }: Pick<OrderEvent, 'orderId'>, body: string): string =>
  `{"topic":"orders:${orderId}",${body}`;
