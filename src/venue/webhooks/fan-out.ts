/**
 * Turns events into deliveries, one per endpoint that wants them. Any number of workers may run it: one
 * transaction writes the deliveries and moves the position, so no event is lost or taken twice.
 */

import { createHash } from 'node:crypto';
import type { Chain } from '../../domain/chain.ts';
import type { OrderNews, OrderStore, PlacedEvent } from '../../ports/stores/store.ts';
import type { VenueStore } from '../../ports/stores/venue-store.ts';
import type { NewDelivery, RosterChange, WebhookEndpoint } from '../../ports/stores/webhooks.ts';
import type { VenueDeps } from '../deps.ts';
import { ORDERS_TOPIC } from '../orders/submit.ts';
import { orderEventBody, workspaceFrame } from '../stream/order-frame.ts';
import { solverFrame } from '../stream/solver-frame.ts';
import type { WebhookOptions } from '../options.ts';
import { WEBHOOKS_TOPIC } from './topic.ts';

type FanOutDeps = Pick<VenueDeps, 'bus' | 'clock' | 'log'> & {
  store: Pick<VenueStore, 'webhooks' | 'placeEvents' | 'eventsAfter' | 'ordersWith' | 'listWorkspaces'> &
    Pick<OrderStore, 'order'>;
  chains: ReadonlyMap<number, Chain>;
  /** Called with each endpoint that got deliveries. */
  onDeliveries(endpointIds: readonly string[]): void;
};

const PAGE = 500;
/** Events within this time share a read. */
const GATHER_MS = 20;

export function createWebhookFanOut(
  { store, bus, chains, clock, log, onDeliveries }: FanOutDeps,
  { giveUpAfterMs, sweepMs }: Pick<WebhookOptions, 'giveUpAfterMs' | 'sweepMs'>,
) {
  const { webhooks } = store;
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let cancelSweep = () => {};
  const unsubscribes: (() => Promise<void>)[] = [];

  function wake() {
    again = true;
    running ??= run().finally(() => (running = undefined));
  }

  async function run() {
    while (again && !stopped) {
      await new Promise<void>((done) => clock.after(GATHER_MS, done));
      again = false;
      try {
        await fanOutOrders();
        await fanOutRoster();
      } catch (error) {
        log.warn({ error }, 'events could not be turned into webhook deliveries; the next look tries again');
      }
    }
  }

  async function fanOutOrders() {
    await store.placeEvents();
    for (let full = true; full && !stopped;) {
      const from = await webhooks.eventPlace();
      const events = await store.eventsAfter(from, PAGE);
      const last = events.at(-1);
      if (!last) return;
      const deliveries = await orderDeliveries(events);
      const ours = await webhooks.fanOutEvents(from, last.place, deliveries);
      if (ours) tell(deliveries);
      full = events.length === PAGE || !ours;
    }
  }

  async function orderDeliveries(events: readonly PlacedEvent[]): Promise<NewDelivery[]> {
    const endpoints = await webhooks.listening([...new Set(events.map(({ workspaceId }) => workspaceId))]);
    const wanted = events
      .map((event) => ({ event, listeners: endpoints.filter((endpoint) => wants(endpoint, event)) }))
      .filter(({ listeners }) => listeners.length > 0);
    const records = await store.ordersWith([...new Set(wanted.map(({ event }) => event.orderId))]);
    return wanted.flatMap(({ event, listeners }) => {
      const record = records.get(event.orderId);
      if (!record) return [];
      const body = workspaceFrame(event, orderEventBody(event, record, chains));
      return listeners.map((endpoint) =>
        delivery(endpoint, event.type, body, `${event.orderId} ${event.seq}`),
      );
    });
  }

  async function fanOutRoster() {
    for (let full = true; full && !stopped;) {
      const changes = await webhooks.rosterChanges(PAGE);
      if (changes.length === 0) return;
      const endpoints = (await webhooks.listening()).filter(({ events }) =>
        events.includes('solver.changed'),
      );
      const workspaces = new Map(
        endpoints.length > 0 ? (await store.listWorkspaces()).map((one) => [one.id, one]) : [],
      );
      const mayTrade = ({ workspaceId }: WebhookEndpoint, solverId: string): boolean => {
        const eligible = workspaces.get(workspaceId)?.eligibleSolvers;
        return !eligible || eligible.includes(solverId);
      };
      const deliveries = new Map(
        changes.map((change) => [
          change.id,
          endpoints
            .filter((endpoint) => mayTrade(endpoint, change.solverId))
            .flatMap((endpoint) => solverDelivery(endpoint, change)),
        ]),
      );
      await webhooks.fanOutRoster(deliveries);
      tell([...deliveries.values()].flat());
      full = changes.length === PAGE;
    }
  }

  function solverDelivery(endpoint: WebhookEndpoint, change: RosterChange & { id: number }): NewDelivery[] {
    const view = change[endpoint.mode];
    if (!view) return [];
    const body = solverFrame(view, change.occurredAtMs);
    return [delivery(endpoint, 'solver.changed', body, `roster ${change.id}`)];
  }

  function delivery({ id }: WebhookEndpoint, type: string, body: string, event: string): NewDelivery {
    const createdAtMs = clock.nowMs();
    return {
      id: `msg_${createHash('sha256').update(`${id} ${event}`).digest('hex').slice(0, 32)}`,
      endpointId: id,
      type,
      body,
      createdAtMs,
      giveUpAtMs: createdAtMs + giveUpAfterMs,
    };
  }

  function tell(deliveries: readonly NewDelivery[]) {
    if (deliveries.length > 0) onDeliveries([...new Set(deliveries.map(({ endpointId }) => endpointId))]);
  }

  function sweep() {
    wake();
    cancelSweep = clock.after(sweepMs, sweep);
  }

  return {
    async start() {
      unsubscribes.push(
        await bus.subscribe(ORDERS_TOPIC, (payload) => {
          if ((JSON.parse(payload) as OrderNews).event !== null) wake();
        }),
        await bus.subscribe(WEBHOOKS_TOPIC, wake),
      );
      sweep();
    },
    async stop() {
      stopped = true;
      cancelSweep();
      for (const unsubscribe of unsubscribes) await unsubscribe();
      await running;
    },
  };
}

const wants = ({ workspaceId, mode, events, fromPlace }: WebhookEndpoint, event: PlacedEvent): boolean =>
  workspaceId === event.workspaceId &&
  mode === event.mode &&
  events.includes(event.type) &&
  event.place > fromPlace;
