/** Reads new order events once for all streams. The bus says when to read, the database what happened. */

import type { Bytes32 } from '../../domain/hex.ts';
import type { EventStore, OrderNews, OrderRecord, PlacedEvent } from '../../ports/stores/store.ts';
import type { VenueDeps } from '../deps.ts';
import { ORDERS_TOPIC } from '../orders/submit.ts';

interface EventListener {
  /** Orders of other events are not read. */
  wants(event: PlacedEvent): boolean;
  /** Receives events in the order of their place, with `record` only where the listener wants it. */
  tell(event: PlacedEvent, record: OrderRecord | undefined): void;
}

export interface EventTail {
  place(): number;
  listen(listener: EventListener): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const PAGE = 500;
/** The first read after a message, and the following ones. */
const GATHER_MS = 5;
const PACE_MS = 40;
/** A message may have been lost. */
const SWEEP_MS = 2_000;

export function createEventTail({
  store,
  bus,
  clock,
  log,
}: Pick<VenueDeps, 'bus' | 'clock' | 'log'> & { store: EventStore }): EventTail {
  const listeners: EventListener[] = [];
  let place = 0;
  let reading: Promise<void> | undefined;
  let again = false;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let cancelSweep = () => {};
  let unsubscribe: (() => Promise<void>) | undefined;

  function wake() {
    again = true;
    reading ??= run().finally(() => (reading = undefined));
  }

  async function run() {
    while (again && !stopped) {
      await new Promise<void>((done) =>
        clock.after(Math.max(GATHER_MS, readAtMs + PACE_MS - clock.monotonicMs()), done),
      );
      again = false;
      readAtMs = clock.monotonicMs();
      await readOn().catch((error: unknown) =>
        log.warn({ error }, 'events could not be read; the next read tries again'),
      );
    }
  }

  async function readOn() {
    await store.placeEvents();
    for (;;) {
      const events = await store.eventsAfter(place, PAGE);
      const records = new Map<Bytes32, OrderRecord | undefined>();
      // A client may subscribe while orders are read.
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

  function wantedOf(events: readonly PlacedEvent[], asked: ReadonlyMap<Bytes32, unknown>): Bytes32[] {
    const wanted = events.filter(
      (event) => !asked.has(event.orderId) && listeners.some((listener) => listener.wants(event)),
    );
    return [...new Set(wanted.map(({ orderId }) => orderId))];
  }

  function sweep() {
    wake();
    cancelSweep = clock.after(SWEEP_MS, sweep);
  }

  return {
    place: () => place,
    listen: (listener: EventListener) => void listeners.push(listener),
    async start() {
      place = await store.placeEvents();
      unsubscribe = await bus.subscribe(ORDERS_TOPIC, (payload) => {
        if ((JSON.parse(payload) as OrderNews).event !== null) wake();
      });
      sweep();
    },
    async stop() {
      stopped = true;
      cancelSweep();
      await unsubscribe?.();
      await reading;
    },
  };
}
