/**
 * Caches escrow events by order. The cache is limited in bytes too, because a sender chooses how long the
 * data of its order is.
 */

import { LRUCache } from 'lru-cache';
import type { Bytes32 } from '../../../domain/hex.ts';
import type { EscrowEvent } from '../../../ports/chain.ts';

type Of<Kind extends EscrowEvent['kind']> = Extract<EscrowEvent, { kind: Kind }>;

/** An event without the order itself: the order record holds that already. */
export type CachedOrderEvent =
  | Of<'filled' | 'finalised' | 'refunded' | 'deferral_ended'>
  | Omit<Of<'open'>, 'order'>;

export interface OrderEventCache {
  /** The events of one order, unsorted. Events of other chains or of an abandoned fork may be among them. */
  of(orderId: Bytes32): CachedOrderEvent[];
  /** false when the event is cached already. */
  add(event: CachedOrderEvent): boolean;
}

const EVENTS = 50_000;
const BYTES = 64 * 2 ** 20;
/** Size of an event without the data whose length its sender chooses. */
const BASE_BYTES = 800;

export function createOrderEventCache({
  most = EVENTS,
  mostBytes = BYTES,
}: { most?: number; mostBytes?: number } = {}): OrderEventCache {
  const byOrder = new Map<Bytes32, Set<string>>();
  const events = new LRUCache<string, CachedOrderEvent>({
    max: most,
    maxSize: mostBytes,
    sizeCalculation: bytesOf,
    dispose: ({ orderId }, id) => forget(orderId, id),
  });

  function forget(orderId: Bytes32, id: string): void {
    const ids = byOrder.get(orderId);
    ids?.delete(id);
    if (ids?.size === 0) byOrder.delete(orderId);
  }

  return {
    of: (orderId) => [...(byOrder.get(orderId) ?? [])].flatMap((id) => events.get(id) ?? []),
    add(event) {
      const id = `${event.blockHash}:${event.logIndex}`;
      if (events.has(id)) return false;
      events.set(id, event);
      // An event larger than the whole cache is not kept.
      if (!events.has(id)) return true;
      const ids = byOrder.get(event.orderId) ?? new Set();
      byOrder.set(event.orderId, ids.add(id));
      return true;
    },
  };
}

const bytesOf = (event: CachedOrderEvent): number =>
  BASE_BYTES + (event.kind === 'filled' ? event.output.callbackData.length + event.output.context.length : 0);

/** undefined for events that belong to no order. */
export function cacheableEvent(event: EscrowEvent): CachedOrderEvent | undefined {
  switch (event.kind) {
    case 'open': {
      const { order: _, ...rest } = event;
      return rest;
    }
    case 'filled':
    case 'finalised':
    case 'refunded':
    case 'deferral_ended':
      return event;
    default:
      return undefined;
  }
}
