/** The order topics: replays missed events, then sends new ones, each exactly once and in order. */

import type { Chain } from '../../domain/chain.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  ApiKey,
  EventStore,
  OrderEvent,
  OrderRecord,
  OrderStore,
  PlacedEvent,
} from '../../ports/stores/store.ts';
import type { EventTail } from './event-tail.ts';
import { orderEventBody, orderFrame, workspaceFrame } from './order-frame.ts';

export interface StreamClient {
  readonly key: ApiKey;
  send(text: string | Buffer): void;
  bufferedBytes(): number;
  readonly gone: boolean;
  drop(): void;
}

export interface OrderStream {
  last(): Promise<number>;
  /** Joins the topic of all orders, from after `since` or from now on. */
  joinAll(client: StreamClient, since: number | undefined): Joined;
  leaveAll(client: StreamClient): void;
  /** Joins the topic of one order, from its first event on. */
  join(client: StreamClient, orderId: Bytes32): Joined;
  leave(client: StreamClient, orderId: Bytes32): void;
}

export interface Joined {
  place: number;
  /** Call it after the client was told that it is subscribed. Rejects when the store does. */
  catchUp(): Promise<void>;
}

interface Follower {
  client: StreamClient;
  place: number;
  live: boolean;
  /** An event happened during the replay. */
  missed: boolean;
}

interface Sent {
  seq: number;
  missed: boolean;
}

/** Events per read in a replay, and the buffered bytes below which it reads on. */
const PAGE = 100;
const LOW_WATER_BYTES = 128 * 1024;
const DRAIN_MS = 20;
const DRAIN_WITHIN_MS = 30_000;

export function createOrderStream({
  store,
  tail,
  chains,
  clock,
}: {
  store: OrderStore & EventStore;
  tail: EventTail;
  chains: ReadonlyMap<number, Chain>;
  clock: Clock;
}): OrderStream {
  const ofWorkspace = new Map<string, Map<StreamClient, Follower>>();
  const ofOrder = new Map<Bytes32, Map<StreamClient, Sent>>();

  tail.listen({
    wants: (event) => ofWorkspace.has(scopeOf(event)) || ofOrder.has(event.orderId),
    tell(event, record) {
      if (!record) return;
      const body = bodyOf(event, record);
      const forAll = Buffer.from(workspaceFrame(event, body));
      for (const [client, follower] of ofWorkspace.get(scopeOf(event)) ?? []) {
        if (!follower.live) follower.missed = true;
        else if (event.place > follower.place) {
          follower.place = event.place;
          client.send(forAll);
        }
      }
      const forOne = Buffer.from(orderFrame(event, body));
      for (const [client, sent] of ofOrder.get(event.orderId) ?? []) {
        // Earlier events are still being read.
        if (event.seq > sent.seq + 1) sent.missed = true;
        if (event.seq !== sent.seq + 1) continue;
        sent.seq = event.seq;
        client.send(forOne);
      }
    },
  });

  const bodyOf = (event: OrderEvent, record: OrderRecord): string => orderEventBody(event, record, chains);

  async function replayAll(
    follower: Follower,
    of: Pick<PlacedEvent, 'workspaceId' | 'mode'>,
    still: () => boolean,
  ) {
    // Gives positions to all committed events.
    if (still()) await store.placeEvents();
    while (still()) {
      follower.missed = false;
      const events = await store.eventsAfter(follower.place, PAGE, of);
      const records = await store.ordersWith([...new Set(events.map(({ orderId }) => orderId))]);
      if (!still()) return;
      for (const event of events) {
        const record = records.get(event.orderId);
        follower.place = event.place;
        if (record) follower.client.send(workspaceFrame(event, bodyOf(event, record)));
      }
      if (events.length < PAGE && !follower.missed) {
        follower.live = true;
        return;
      }
      await drained(follower.client);
    }
  }

  async function drained(client: StreamClient) {
    for (let waited = 0; client.bufferedBytes() > LOW_WATER_BYTES && !client.gone; waited += DRAIN_MS) {
      if (waited > DRAIN_WITHIN_MS) return client.drop();
      await new Promise<void>((done) => clock.after(DRAIN_MS, done));
    }
  }

  return {
    last: () => store.placeEvents(),
    joinAll(client: StreamClient, since: number | undefined) {
      const scope = scopeOf(client.key);
      const known = ofWorkspace.get(scope)?.get(client);
      if (known && since === undefined) return { place: known.place, catchUp: () => Promise.resolve() };
      const follower: Follower = {
        client,
        place: since ?? tail.place(),
        live: since === undefined,
        missed: false,
      };
      const members = ofWorkspace.get(scope) ?? new Map<StreamClient, Follower>();
      ofWorkspace.set(scope, members.set(client, follower));
      const { workspaceId, mode } = client.key;
      return {
        place: follower.place,
        async catchUp() {
          if (!follower.live && workspaceId !== null)
            await replayAll(
              follower,
              { workspaceId, mode },
              () => !client.gone && members.get(client) === follower,
            );
        },
      };
    },
    leaveAll: (client: StreamClient) => remove(ofWorkspace, scopeOf(client.key), client),
    join(client: StreamClient, orderId: Bytes32) {
      const members = ofOrder.get(orderId) ?? new Map<StreamClient, Sent>();
      const sent = members.get(client) ?? { seq: 0, missed: false };
      ofOrder.set(orderId, members.set(client, sent));
      return {
        place: tail.place(),
        async catchUp() {
          // An event in between is in the read or comes live.
          do {
            sent.missed = false;
            const events = await store.events(orderId);
            const record = await store.order(orderId);
            for (const event of events) {
              if (!record || event.seq <= sent.seq || members.get(client) !== sent) continue;
              sent.seq = event.seq;
              client.send(orderFrame(event, bodyOf(event, record)));
            }
          } while (sent.missed);
        },
      };
    },
    leave: (client: StreamClient, orderId: Bytes32) => remove(ofOrder, orderId, client),
  };
}

const scopeOf = ({ workspaceId, mode }: { workspaceId: string | null; mode: string }): string =>
  `${mode} ${workspaceId ?? ''}`;

function remove<K, V>(from: Map<K, Map<StreamClient, V>>, key: K, client: StreamClient) {
  const members = from.get(key);
  members?.delete(client);
  if (members?.size === 0) from.delete(key);
}
