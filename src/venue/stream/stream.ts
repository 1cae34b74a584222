/** The public WebSocket. Subscribing replays missed events, so that the stream agrees with polling. */

import type { Bytes32 } from '../../domain/hex.ts';
import type { Release, Socket, SocketRoute, SocketListener } from '../../ports/http.ts';
import type { ApiKey, KeyMode, OrderStore } from '../../ports/stores/store.ts';
import { ApiError } from '../../protocol/errors.ts';
import {
  CLOSE,
  EVENTS_MAX_PAYLOAD_BYTES,
  EVENTS_PATH,
  type FrameId,
  MAX_TOPICS,
  parseTopic,
  type ServerFrame,
  type Topic,
  zClientFrame,
} from '../../protocol/api/events.ts';
import type { VenueDeps } from '../deps.ts';
import type { SlotLimiter } from '../access/slot-limiter.ts';
import { createBuckets, frameLimit } from '../access/token-buckets.ts';
import type { LevelsBoard, PriceMarket } from './levels-board.ts';
import type { SocketOptions } from '../options.ts';
import type { RosterEntry, Roster } from '../solvers/roster.ts';
import type { Joined, OrderStream, StreamClient } from './order-topics.ts';
import { solverFrame } from './solver-frame.ts';
import type { Workspaces } from '../access/workspaces.ts';

interface Client extends StreamClient {
  topics: Set<string>;
  markets: Map<string, PriceMarket>;
}

type StreamDeps = Pick<VenueDeps, 'clock' | 'log' | 'metrics'> & {
  slots: SlotLimiter;
  store: OrderStore;
  orders: OrderStream;
  prices: LevelsBoard;
  roster: Roster;
  workspaces: Workspaces;
};

const WEIGH_MS = 100;
/** Topics that all connections of a key may subscribe to. Each costs a frame or several queries. */
const TOPICS_OF_KEY = { perSecond: 200, burst: 50 };
/** Frames of one connection that wait for their turn, in seconds of its rate. */
const MAX_WAITING_SECONDS = 2;
const TOPICS =
  'Topics are orders, orders:{id}, solvers and prices:{source}-{dest}:{inputSymbol}-{outputSymbol}.';

export function createStreamDoor(
  { slots, store, orders, prices, roster, workspaces, clock, log, metrics }: StreamDeps,
  { pingEveryMs, maxBufferedBytes, maxTotalBufferedBytes, maxPerKey, maxFramesPerSecond }: SocketOptions,
): SocketRoute {
  const clients = new Set<Client>();
  const rosterListeners = new Set<Client>();
  metrics.gauge('firmquote_venue_stream_clients', 'Connected event streams', [], (gauge) =>
    gauge.set(clients.size),
  );
  const dropped = metrics.counter('firmquote_venue_stream_dropped_total', 'Streams closed by the venue', {
    why: ['slow', 'flood'],
  });
  const sentFrames = metrics.counter('firmquote_venue_stream_frames_total', 'Frames sent to streams');

  const topicRate = createBuckets(clock, TOPICS_OF_KEY);

  let cancelWeighing = () => {};
  function weigh() {
    const lagging = [...clients]
      .map((client) => ({ client, bytes: client.bufferedBytes() }))
      .filter(({ bytes }) => bytes > 0);
    let total = lagging.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total > maxTotalBufferedBytes) {
      for (const { client, bytes } of lagging.sort((a, b) => b.bytes - a.bytes)) {
        if (total <= maxTotalBufferedBytes) break;
        client.drop();
        total -= bytes;
      }
    }
    cancelWeighing = clients.size > 0 ? clock.after(WEIGH_MS, weigh) : () => {};
  }

  /** Eligibility is looked up per client; the queue keeps the order. */
  let rosterQueue = Promise.resolve();
  roster.onShown((entry, atMs) => {
    if (rosterListeners.size === 0) return;
    const frameFor = (mode: KeyMode): Buffer | undefined => {
      const data = roster.view(entry, mode);
      return data && Buffer.from(solverFrame(data, atMs));
    };
    const frames = { test: frameFor('test'), live: frameFor('live') };
    rosterQueue = rosterQueue
      .then(() => sendRosterChange(entry, frames))
      .catch((error: unknown) => log.warn({ error }, 'a roster change was not sent; GET /solvers shows it'));
  });

  async function sendRosterChange({ id }: RosterEntry, frames: Record<KeyMode, Buffer | undefined>) {
    for (const client of rosterListeners) {
      const frame = frames[client.key.mode];
      if (!frame) continue;
      const { eligibleSolvers } = await workspaces.of(client.key);
      if ((!eligibleSolvers || eligibleSolvers.includes(id)) && rosterListeners.has(client))
        client.send(frame);
    }
  }

  /** Prices depend on the eligible solvers. */
  workspaces.onChange(
    () =>
      void rejoinPrices().catch((error: unknown) =>
        log.warn({ error }, 'price streams did not follow a changed workspace'),
      ),
  );

  async function rejoinPrices() {
    for (const client of clients) {
      if (client.markets.size === 0) continue;
      const workspace = await workspaces.of(client.key);
      for (const [topic, market] of client.markets) {
        prices.leave(client, topic);
        prices.join(client, market, workspace);
      }
    }
  }

  function clientOf(socket: Socket, key: ApiKey): Client & { close(): void } {
    let gone = false;
    const drop = (why: string, code: number, reason: string) => {
      if (gone) return;
      gone = true;
      dropped.add({ why });
      socket.close(code, reason);
    };
    return {
      key,
      topics: new Set(),
      markets: new Map(),
      get gone() {
        return gone;
      },
      bufferedBytes: () => socket.bufferedBytes(),
      send(text) {
        if (gone) return;
        if (socket.bufferedBytes() > maxBufferedBytes)
          return drop('slow', CLOSE.tryLater, 'reads too slowly');
        sentFrames.add();
        socket.send(text);
      },
      drop: () => drop('slow', CLOSE.tryLater, 'reads too slowly'),
      close: () => void (gone = true),
    };
  }

  function open(socket: Socket, key: ApiKey): SocketListener {
    const client = clientOf(socket, key);
    if (clients.size === 0) {
      cancelWeighing();
      cancelWeighing = clock.after(WEIGH_MS, weigh);
    }
    clients.add(client);
    let alive = true;
    const mayRead = frameLimit(clock, maxFramesPerSecond);
    let cancelPing = clock.after(pingEveryMs, ping);
    /** Subscriptions run one after the other, so that answers come in the order of the requests. */
    let work = Promise.resolve();
    let waiting = 0;
    /** One replay at a time: a later one replaces it. */
    let replay = Promise.resolve();

    function ping() {
      if (!alive) return socket.terminate();
      alive = false;
      socket.ping();
      cancelPing = clock.after(pingEveryMs, ping);
    }

    const say = (frame: ServerFrame) => client.send(JSON.stringify(frame));
    const fail = (code: string, message: string, id: FrameId) =>
      say({ op: 'error', error: { code, message }, id });

    async function subscribe(texts: readonly string[], since: string | undefined, id: FrameId) {
      if (!texts.every(() => topicRate.take(key.id).ok))
        return fail('rate_limited', 'This key subscribes too fast. Subscribe to each topic once.', id);
      const topics: { text: string; topic: Topic; market?: PriceMarket }[] = [];
      for (const text of texts) {
        const topic = parseTopic(text);
        if (!topic) return fail('bad_request', `"${text.slice(0, 80)}" is not a topic. ${TOPICS}`, id);
        if (topic.kind === 'order') {
          const record = await store.order(topic.orderId as Bytes32);
          if (!record || record.workspaceId !== key.workspaceId || record.mode !== key.mode)
            return fail('not_found', 'No such order.', id);
        }
        const market =
          topic.kind === 'prices' ? prices.market(text, topic.corridor, topic.pair, key.mode) : undefined;
        if (topic.kind === 'prices' && !market)
          return fail(
            'not_found',
            `There is no market "${text.slice(7, 80)}" for this key. Write slugs of GET …/pairs and symbols of tokens there, such as prices:base-base:USDC-WETH.`,
            id,
          );
        topics.push({ text, topic, ...(market && { market }) });
      }
      const ofAll = topics.some(({ topic }) => topic.kind === 'orders');
      if (since !== undefined && !ofAll)
        return fail(
          'bad_request',
          "since belongs to the topic orders: orders:{id} always begins with the order's first event.",
          id,
        );
      if (new Set([...client.topics, ...texts]).size > MAX_TOPICS)
        return fail(
          'rate_limited',
          `A connection has at most ${MAX_TOPICS} topics. Unsubscribe from some first.`,
          id,
        );
      const from = since === undefined ? undefined : Number(since);
      if (from !== undefined && from > (await orders.last()))
        return fail(
          'bad_request',
          'This venue never gave out that cursor. Subscribe without since and read your orders.',
          id,
        );
      const workspace = topics.some(({ market }) => market) ? await workspaces.of(key) : undefined;
      if (client.gone) return;
      let cursor: string | undefined;
      const joined: Joined[] = [];
      let all: Joined | undefined;
      const markets: PriceMarket[] = [];
      for (const { text, topic, market } of topics) {
        const subscribed = client.topics.has(text);
        client.topics.add(text);
        if (topic.kind === 'orders') {
          all = orders.joinAll(client, from);
          cursor = String(all.place);
        } else if (topic.kind === 'order') joined.push(orders.join(client, topic.orderId as Bytes32));
        else if (topic.kind === 'solvers') rosterListeners.add(client);
        else if (market && !subscribed) markets.push(market);
      }
      say({ op: 'subscribed', topics: [...texts], ...(cursor !== undefined && { cursor }), id });
      for (const market of markets) {
        if (!workspace) continue;
        client.markets.set(market.topic, market);
        prices.join(client, market, workspace);
      }
      const failed = (error: unknown) => {
        // A stream with missing events must not look complete.
        for (const { text } of topics) leave(text);
        reportFailure(error, id);
      };
      // A long replay must not block the client's next request.
      if (all) replay = replay.then(all.catchUp).catch(failed);
      await Promise.all(joined.map((one) => one.catchUp())).catch(failed);
    }

    async function enter(id: FrameId): Promise<Release | undefined> {
      try {
        return await slots.take('subscribe', key.id);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        fail(error.code, error.message, id);
        return undefined;
      }
    }

    function reportFailure(error: unknown, id: FrameId) {
      log.warn({ error }, 'a subscription failed');
      fail(
        'unavailable',
        'The database does not answer, so none of these topics is subscribed. Try again shortly.',
        id,
      );
    }

    function unsubscribe(topics: readonly string[], id: FrameId) {
      for (const topic of topics) leave(topic);
      say({ op: 'unsubscribed', topics: [...topics], id });
    }

    function leave(text: string) {
      if (!client.topics.delete(text)) return;
      const topic = parseTopic(text);
      if (topic?.kind === 'orders') orders.leaveAll(client);
      if (topic?.kind === 'order') orders.leave(client, topic.orderId as Bytes32);
      if (topic?.kind === 'solvers') rosterListeners.delete(client);
      if (topic?.kind === 'prices') {
        client.markets.delete(text);
        prices.leave(client, text);
      }
    }

    return {
      message(text) {
        if (!mayRead() || waiting >= maxFramesPerSecond * MAX_WAITING_SECONDS) {
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
        if (!frame.success)
          return fail(
            'bad_request',
            'A frame is {"op":"subscribe"|"unsubscribe","topics":[…],"since"?,"id"?}.',
            null,
          );
        const { op, topics, since, id = null } = frame.data;
        waiting++;
        work = work.then(async () => {
          waiting--;
          if (client.gone) return;
          if (op === 'unsubscribe') return unsubscribe(topics, id);
          const release = await enter(id);
          if (release)
            await subscribe(topics, since, id)
              .catch((error: unknown) => reportFailure(error, id))
              .finally(release);
        });
      },
      pong: () => void (alive = true),
      closed() {
        cancelPing();
        client.close();
        clients.delete(client);
        for (const topic of [...client.topics]) leave(topic);
      },
    };
  }

  return {
    path: EVENTS_PATH,
    keyKinds: ['service', 'workspace'],
    takesTickets: true,
    maxPayloadBytes: EVENTS_MAX_PAYLOAD_BYTES,
    maxPerKey,
    open,
  };
}
