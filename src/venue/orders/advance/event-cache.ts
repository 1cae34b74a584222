/**
 * Escrow events by order, as long as there is room: anybody may open orders with as much in them as it pays
 * gas for, so room is counted in bytes too.
 */

import type { Bytes32 } from '../../../domain/hex.ts';
import { createBoundedMap } from '../../../domain/bounded.ts';
import type { EscrowEvent } from '../../../ports/chain.ts';

type Of<Kind extends EscrowEvent['kind']> = Extract<EscrowEvent, { kind: Kind }>;

/** What happened to an order. That it was opened is enough: what it says is known to whoever advances it. */
export type CachedOrderEvent =
  | Of<'filled' | 'finalised' | 'refunded' | 'deferral_ended'>
  | Omit<Of<'open'>, 'order'>;

export interface OrderEventCache {
  /** Of one order, in no order. Other chains' events and those of two forks may be among them. */
  of(orderId: Bytes32): CachedOrderEvent[];
  /** false: known already. */
  add(event: CachedOrderEvent): boolean;
}

const EVENTS = 50_000;
const BYTES = 64 * 2 ** 20;
/** Of an event without what is as long as its sender likes. */
const LEAN_BYTES = 800;

export function createOrderEventCache({
  most = EVENTS,
  mostBytes = BYTES,
}: { most?: number; mostBytes?: number } = {}): OrderEventCache {
  const byOrder = new Map<Bytes32, Set<string>>();
  const events = createBoundedMap<string, CachedOrderEvent>({
    most: () => most,
    mostWeight: mostBytes,
    weigh: bytesOf,
    forgot: (id, { orderId }) => forget(orderId, id),
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
      const ids = byOrder.get(event.orderId) ?? new Set();
      byOrder.set(event.orderId, ids.add(id));
      events.set(id, event);
      return true;
    },
  };
}

const bytesOf = (event: CachedOrderEvent): number =>
  LEAN_BYTES + (event.kind === 'filled' ? event.output.callbackData.length + event.output.context.length : 0);

/** undefined for what is no order's. */
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
