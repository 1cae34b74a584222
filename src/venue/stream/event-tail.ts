/**
 * Reads new order events once for all streams of this replica. The bus says when to read, the database says
 * what happened.
 */

import type { Bytes32 } from '../../domain/hex.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { EventStore, OrderNews, OrderRecord, PlacedEvent } from '../../ports/stores/store.ts';
import { ORDERS_TOPIC } from '../orders/submit.ts';

export interface EventListener {
  /** Whether a client waits for this event. Orders of other events are not read. */
  wants(event: PlacedEvent): boolean;
  /** Receives every event once, in order of place. `record` is given only where it was wanted. */
  tell(event: PlacedEvent, record: OrderRecord | undefined): void;
}

export type EventTail = ReturnType<typeof createEventTail>;

const PAGE = 500;
/** Events are read in batches: the first after `GATHER_MS`, the following ones at `PACE_MS`. */
const GATHER_MS = 5;
const PACE_MS = 40;
/** Reads without a bus message, in case one was lost. */
const SWEEP_MS = 2_000;

export function createEventTail({
  store,
  bus,
  clock,
  log,
}: {
  store: EventStore;
  bus: Bus;
  clock: Clock;
  log: Log;
}) {
  const listeners: EventListener[] = [];
  let place = 0;
  let looking: Promise<void> | undefined;
  let again = false;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let cancelSweep = () => {};
  let unsubscribe: (() => Promise<void>) | undefined;

  function look(): void {
    again = true;
    looking ??= run().finally(() => (looking = undefined));
  }

  async function run(): Promise<void> {
    while (again && !stopped) {
      await new Promise<void>((done) =>
        clock.after(Math.max(GATHER_MS, lookedAtMs + PACE_MS - clock.monotonicMs()), done),
      );
      again = false;
      lookedAtMs = clock.monotonicMs();
      await readOn().catch((error: unknown) =>
        log.warn({ error }, 'events could not be read; the next read tries again'),
      );
    }
  }

  async function readOn(): Promise<void> {
    await store.placeEvents();
    for (;;) {
      const events = await store.eventsAfter(place, PAGE);
      const records = new Map<Bytes32, OrderRecord | undefined>();
      // A client that subscribes while orders are read waits for these events too.
      for (let wanted = wantedOf(events, records); wanted.length > 0; wanted = wantedOf(events, records)) {
        const found = await store.ordersWith(wanted);
        for (const orderId of wanted) records.set(orderId, found.get(orderId));
      }
      for (const event of events) {
        place = event.place;
        for (const listener of listeners) listener.tell(event, records.get(event.orderId));
      }
      if (events.length < PAGE || stopped) return;
    }
  }

  /** Orders of wanted events that have not been read yet. */
  function wantedOf(events: readonly PlacedEvent[], asked: ReadonlyMap<Bytes32, unknown>): Bytes32[] {
    const wanted = events.filter(
      (event) => !asked.has(event.orderId) && listeners.some((listener) => listener.wants(event)),
    );
    return [...new Set(wanted.map(({ orderId }) => orderId))];
  }

  function sweep(): void {
    look();
    cancelSweep = clock.after(SWEEP_MS, sweep);
  }

  return {
    /** Place of the last event that was delivered. */
    place: () => place,
    listen: (listener: EventListener) => void listeners.push(listener),
    async start(): Promise<void> {
      place = await store.placeEvents();
      unsubscribe = await bus.subscribe(ORDERS_TOPIC, (payload) => {
        if ((JSON.parse(payload) as OrderNews).event !== null) look();
      });
      sweep();
    },
    async stop(): Promise<void> {
      stopped = true;
      cancelSweep();
      await unsubscribe?.();
      await looking;
    },
  };
}
