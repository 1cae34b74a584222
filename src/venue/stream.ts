/** Events to takers: subscribing replays what has happened, so a reconnect misses nothing and the stream always agrees with polling. */

import type { Chain } from '../domain/chain.ts';
import type { Bytes32 } from '../domain/hex.ts';
import { toIso } from '../domain/time.ts';
import type { Clock } from '../ports/clock.ts';
import type { Socket, SocketDoor, SocketListener } from '../ports/http.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { ApiKey, OrderEvent, OrderRecord, OrderStore } from '../ports/store.ts';
import { CLOSE, EVENTS_MAX_PAYLOAD_BYTES, EVENTS_PATH, type FrameId, MAX_TOPICS, type OrderEventFrame, parseTopic, type ServerFrame, zClientFrame } from '../protocol/events.ts';
import type { News } from './news.ts';
import type { SocketOptions } from './options.ts';
import type { Roster } from './roster.ts';
import { statusResponse } from './status.ts';

interface Client {
  socket: Socket;
  key: ApiKey;
  topics: Set<string>;
  /** Last event sent, by order, for `orders:{id}`. */
  sent: Map<Bytes32, number>;
}

export function createStreamDoor(
  { store, chains, news, roster, clock, log, metrics }: { store: OrderStore; chains: ReadonlyMap<number, Chain>; news: News; roster: Roster; clock: Clock; log: Log; metrics: Metrics },
  { pingEveryMs, maxBufferedBytes, maxPerKey, maxFramesPerSecond }: SocketOptions,
): SocketDoor {
  const clients = new Set<Client>();
  /** Who listens to what; an event touches its own listeners only. */
  const byTopic = new Map<string, Set<Client>>();
  metrics.gauge('firmquote_venue_stream_clients', 'Connected event streams', [], (gauge) => gauge.set(clients.size));
  const dropped = metrics.counter('firmquote_venue_stream_dropped_total', 'Event streams closed by the venue', ['why']);

  news.onOrder((record, { event }) => {
    if (event === null) return;
    const [ofOrder, ofWorkspace] = [byTopic.get(`orders:${record.orderId}`), byTopic.get('orders')];
    if (!ofOrder?.size && !ofWorkspace?.size) return;
    void store
      .events(record.orderId)
      .then((events) => {
        const fresh = events.find(({ type }) => type === event);
        for (const client of ofWorkspace ?? []) if (fresh && owns(client.key, record)) send(client, frameOf('orders', record, fresh));
        for (const client of ofOrder ?? []) catchUp(client, record, events);
      })
      .catch((error: unknown) => log.warn({ orderId: record.orderId, error }, 'an event could not be pushed; polling still shows it'));
  });

  roster.onChange((entry, { atMs }) => {
    const listeners = byTopic.get('solvers');
    if (!listeners?.size) return;
    const frame = JSON.stringify({ topic: 'solvers', type: 'solver.changed', occurredAt: toIso(atMs), data: roster.view(entry) });
    for (const client of listeners) send(client, frame);
  });

  const owns = (key: ApiKey, record: OrderRecord) => record.workspaceId === key.workspaceId && record.mode === key.mode;

  function frameOf(topic: string, record: OrderRecord, { type, seq, occurredAtMs }: OrderEvent): string {
    const frame: OrderEventFrame = { topic, type, seq, orderId: record.orderId, occurredAt: toIso(occurredAtMs), data: statusResponse(record, chains, occurredAtMs) };
    return JSON.stringify(frame);
  }

  /** Everything this client has not had of an order, in order. */
  function catchUp(client: Client, record: OrderRecord, events: readonly OrderEvent[]): void {
    const topic = `orders:${record.orderId}`;
    if (!client.topics.has(topic)) return;
    for (const event of events) {
      if (event.seq <= (client.sent.get(record.orderId) ?? 0)) continue;
      client.sent.set(record.orderId, event.seq);
      send(client, frameOf(topic, record, event));
    }
  }

  function send(client: Client, text: string): void {
    if (client.socket.bufferedBytes() > maxBufferedBytes) {
      dropped.add({ why: 'slow' });
      client.socket.close(CLOSE.tryLater, 'reads too slowly');
      client.socket.terminate();
      return;
    }
    client.socket.send(text);
  }

  function open(socket: Socket, key: ApiKey): SocketListener {
    const client: Client = { socket, key, topics: new Set(), sent: new Map() };
    clients.add(client);
    let alive = true;
    let second = 0;
    let inSecond = 0;
    let cancelPing = clock.after(pingEveryMs, ping);

    function ping(): void {
      if (!alive) return socket.terminate();
      alive = false;
      socket.ping();
      cancelPing = clock.after(pingEveryMs, ping);
    }

    const say = (frame: ServerFrame) => send(client, JSON.stringify(frame));
    const fail = (code: string, message: string, id: FrameId) => say({ op: 'error', error: { code, message }, id });

    async function subscribe(topics: readonly string[], id: FrameId): Promise<void> {
      const records: OrderRecord[] = [];
      for (const text of topics) {
        const topic = parseTopic(text);
        if (!topic) return fail('bad_request', `"${text.slice(0, 80)}" is not a topic. Topics are orders:{id}, orders and solvers.`, id);
        if (topic.kind !== 'order') continue;
        const record = await store.order(topic.orderId as Bytes32);
        if (!record || !owns(key, record)) return fail('not_found', 'No such order.', id);
        records.push(record);
      }
      if (new Set([...client.topics, ...topics]).size > MAX_TOPICS) return fail('rate_limited', `A connection has at most ${MAX_TOPICS} topics. Unsubscribe from some first.`, id);
      for (const topic of topics) {
        client.topics.add(topic);
        byTopic.set(topic, (byTopic.get(topic) ?? new Set()).add(client));
      }
      say({ op: 'subscribed', topics: [...topics], id });
      for (const { orderId } of records) {
        // Read again now that live events reach us: what happened in between is in one of the two.
        const [record, events] = await Promise.all([store.order(orderId), store.events(orderId)]);
        if (record) catchUp(client, record, events);
      }
    }

    function unsubscribe(topics: readonly string[], id: FrameId): void {
      for (const topic of topics) leave(topic);
      say({ op: 'unsubscribed', topics: [...topics], id });
    }

    function leave(topic: string): void {
      client.topics.delete(topic);
      const order = parseTopic(topic);
      if (order?.kind === 'order') client.sent.delete(order.orderId as Bytes32);
      const listeners = byTopic.get(topic);
      listeners?.delete(client);
      if (listeners?.size === 0) byTopic.delete(topic);
    }

    return {
      message(text) {
        const nowSecond = Math.floor(clock.monotonicMs() / 1000);
        if (nowSecond !== second) [second, inSecond] = [nowSecond, 0];
        if (++inSecond > maxFramesPerSecond) {
          dropped.add({ why: 'flood' });
          return socket.close(CLOSE.policy, 'too many frames');
        }
        let json: unknown;
        try {
          json = JSON.parse(text);
        } catch {
          return fail('bad_request', 'That frame is not JSON.', null);
        }
        const frame = zClientFrame.safeParse(json);
        if (!frame.success) return fail('bad_request', 'A frame is {"op":"subscribe"|"unsubscribe","topics":[…],"id"?}.', null);
        const { op, topics, id = null } = frame.data;
        if (op === 'unsubscribe') return unsubscribe(topics, id);
        void subscribe(topics, id).catch((error: unknown) => {
          log.warn({ error }, 'a subscription failed');
          fail('unavailable', 'The database does not answer at the moment. Subscribe again shortly.', id);
        });
      },
      pong: () => void (alive = true),
      closed() {
        cancelPing();
        clients.delete(client);
        for (const topic of [...client.topics]) leave(topic);
      },
    };
  }

  return { path: EVENTS_PATH, keyKinds: ['service', 'workspace'], maxPayloadBytes: EVENTS_MAX_PAYLOAD_BYTES, maxPerKey, open };
}
