/** Escrow events by order, limited in bytes because a sender chooses the length of its order's data. */

import { LRUCache } from 'lru-cache';
import type { Bytes32 } from '../../../domain/hex.ts';
import type { EscrowEvent } from '../../../ports/chain.ts';

type Of<Kind extends EscrowEvent['kind']> = Extract<EscrowEvent, { kind: Kind }>;

export type CachedOrderEvent =
  | Of<'filled' | 'finalised' | 'refunded' | 'deferral_ended'>
  | Omit<Of<'open'>, 'order'>;

/** The bytes of an event without the data whose length its sender chooses. */
const BASE_BYTES = 800;

export function createOrderEventCache({
  most = 50_000,
  mostBytes = 64 * 2 ** 20,
}: { most?: number; mostBytes?: number } = {}) {
  const byOrder = new Map<Bytes32, Set<string>>();
  const events = new LRUCache<string, CachedOrderEvent>({
    max: most,
    maxSize: mostBytes,
    sizeCalculation: bytesOf,
    dispose: ({ orderId }, id) => forget(orderId, id),
  });

  function forget(orderId: Bytes32, id: string) {
    const ids = byOrder.get(orderId);
    ids?.delete(id);
    if (ids?.size === 0) byOrder.delete(orderId);
  }

  return {
    /** Returns events unsorted; events of other chains or an abandoned fork may be among them. */
    of: (orderId: Bytes32) => [...(byOrder.get(orderId) ?? [])].flatMap((id) => events.get(id) ?? []),
    /** Returns false when the event is cached already. */
    add(event: CachedOrderEvent) {
      const id = `${event.blockHash}:${event.logIndex}`;
      if (events.has(id)) return false;
      events.set(id, event);
      // Larger than the whole cache.
      if (!events.has(id)) return true;
      const ids = byOrder.get(event.orderId) ?? new Set();
      byOrder.set(event.orderId, ids.add(id));
      return true;
    },
  };
}

const bytesOf = (event: CachedOrderEvent): number =>
  BASE_BYTES + (event.kind === 'filled' ? event.output.callbackData.length + event.output.context.length : 0);

/** Returns the event in its cached form; undefined for events of no order. */
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
