/** The public WebSocket. Subscribing replays missed events, so that the stream agrees with polling. */

import type { Socket, SocketListener, SocketRoute } from '../../ports/http.ts';
import type { ApiKey, KeyMode } from '../../ports/stores/store.ts';
import { CLOSE, EVENTS_MAX_PAYLOAD_BYTES, EVENTS_PATH, zClientFrame } from '../../protocol/api/events.ts';
import { createBuckets, frameLimit } from '../access/token-buckets.ts';
import type { SocketOptions } from '../options.ts';
import type { RosterEntry } from '../solvers/roster-entry.ts';
import { solverFrame } from './solver-frame.ts';
import {
  type TopicClient,
  topicClientOf,
  type StreamConnection,
  type StreamDoor,
  fail,
  type StreamDeps,
} from './stream-client.ts';
import { enter, leave, reportFailure, subscribe, unsubscribe } from './subscribe.ts';

const WEIGH_MS = 100;
/** Topics that all connections of a key may subscribe to. Each costs a frame or several queries. */
const TOPICS_OF_KEY = { perSecond: 200, burst: 50 };
/** Frames of one connection that wait for their turn, in seconds of its rate. */
const MAX_WAITING_SECONDS = 2;

export function createStreamDoor(deps: StreamDeps, options: SocketOptions): SocketRoute {
  const door: StreamDoor = {
    clients: new Set<TopicClient>(),
    rosterListeners: new Set<TopicClient>(),
    dropped: deps.metrics.counter('firmquote_venue_stream_dropped_total', 'Streams closed by the venue', {
      why: ['slow', 'flood'],
    }),
    sentFrames: deps.metrics.counter('firmquote_venue_stream_frames_total', 'Frames sent to streams'),
    topicRate: createBuckets(deps.clock, TOPICS_OF_KEY),
    cancelWeighing: () => {},
    rosterQueue: Promise.resolve(),
  };
  deps.metrics.gauge('firmquote_venue_stream_clients', 'Connected event streams', [], (gauge) =>
    gauge.set(door.clients.size),
  );
  deps.roster.onShown((entry, atMs) => {
    if (door.rosterListeners.size === 0) return;
    const frameFor = (mode: KeyMode): Buffer | undefined => {
      const data = deps.roster.view(entry, mode);
      return data && Buffer.from(solverFrame(data, atMs));
    };
    const frames = { test: frameFor('test'), live: frameFor('live') };
    door.rosterQueue = door.rosterQueue
      .then(() => sendRosterChange(deps, door, entry, frames))
      .catch((error: unknown) =>
        deps.log.warn({ error }, 'a roster change was not sent; GET /solvers shows it'),
      );
  });
  // Prices depend on the eligible solvers.
  deps.workspaces.onChange(
    () =>
      void rejoinPrices(deps, door).catch((error: unknown) =>
        deps.log.warn({ error }, 'price streams did not follow a changed workspace'),
      ),
  );
  return {
    path: EVENTS_PATH,
    keyKinds: ['service', 'workspace'],
    takesTickets: true,
    maxPayloadBytes: EVENTS_MAX_PAYLOAD_BYTES,
    maxPerKey: options.maxPerKey,
    open: (socket, key) => open(deps, options, door, socket, key),
  };
}

function open(
  deps: StreamDeps,
  options: SocketOptions,
  door: StreamDoor,
  socket: Socket,
  key: ApiKey,
): SocketListener {
  const connection: StreamConnection = {
    socket,
    key,
    client: topicClientOf(options, door, socket, key),
    alive: true,
    mayRead: frameLimit(deps.clock, options.maxFramesPerSecond),
    cancelPing: deps.clock.after(options.pingEveryMs, () => ping(deps, options, connection)),
    work: Promise.resolve(),
    waiting: 0,
    replay: Promise.resolve(),
  };
  if (door.clients.size === 0) {
    door.cancelWeighing();
    door.cancelWeighing = deps.clock.after(WEIGH_MS, () => weigh(deps, options, door));
  }
  door.clients.add(connection.client);
  return {
    message: (text) => message(deps, options, door, connection, text),
    pong: () => void (connection.alive = true),
    closed: () => closed(deps, door, connection),
  };
}

function message(
  deps: StreamDeps,
  options: SocketOptions,
  door: StreamDoor,
  connection: StreamConnection,
  text: string,
): void {
  if (!connection.mayRead() || connection.waiting >= options.maxFramesPerSecond * MAX_WAITING_SECONDS) {
    door.dropped.add({ why: 'flood' });
    return connection.socket.close(CLOSE.policy, 'too many frames');
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return fail(connection, 'bad_request', 'That frame is not JSON.', null);
  }
  const frame = zClientFrame.safeParse(json);
  if (!frame.success)
    return fail(
      connection,
      'bad_request',
      'A frame is {"op":"subscribe"|"unsubscribe","topics":[…],"since"?,"id"?}.',
      null,
    );
  const { op, topics, since, id = null } = frame.data;
  connection.waiting++;
  connection.work = connection.work.then(async () => {
    connection.waiting--;
    if (connection.client.gone) return;
    if (op === 'unsubscribe') return unsubscribe(deps, door, connection, topics, id);
    const release = await enter(deps, connection, id);
    if (release)
      await subscribe(deps, door, connection, topics, since, id)
        .catch((error: unknown) => reportFailure(deps, connection, error, id))
        .finally(release);
  });
}

function closed(deps: StreamDeps, door: StreamDoor, connection: StreamConnection): void {
  connection.cancelPing();
  connection.client.close();
  door.clients.delete(connection.client);
  for (const topic of [...connection.client.topics]) leave(deps, door, connection, topic);
}

function ping(deps: StreamDeps, options: SocketOptions, connection: StreamConnection): void {
  if (!connection.alive) return connection.socket.terminate();
  connection.alive = false;
  connection.socket.ping();
  connection.cancelPing = deps.clock.after(options.pingEveryMs, () => ping(deps, options, connection));
}

function weigh(deps: StreamDeps, options: SocketOptions, door: StreamDoor): void {
  const lagging = [...door.clients]
    .map((client) => ({ client, bytes: client.bufferedBytes() }))
    .filter(({ bytes }) => bytes > 0);
  let total = lagging.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > options.maxTotalBufferedBytes) {
    for (const { client, bytes } of lagging.sort((a, b) => b.bytes - a.bytes)) {
      if (total <= options.maxTotalBufferedBytes) break;
      client.drop();
      total -= bytes;
    }
  }
  door.cancelWeighing =
    door.clients.size > 0 ? deps.clock.after(WEIGH_MS, () => weigh(deps, options, door)) : () => {};
}

async function sendRosterChange(
  deps: StreamDeps,
  door: StreamDoor,
  { id }: RosterEntry,
  frames: Record<KeyMode, Buffer | undefined>,
): Promise<void> {
  for (const client of door.rosterListeners) {
    const frame = frames[client.key.mode];
    if (!frame) continue;
    const { eligibleSolvers } = await deps.workspaces.of(client.key);
    if ((!eligibleSolvers || eligibleSolvers.includes(id)) && door.rosterListeners.has(client))
      client.send(frame);
  }
}

async function rejoinPrices(deps: StreamDeps, door: StreamDoor): Promise<void> {
  for (const client of door.clients) {
    if (client.markets.size === 0) continue;
    const workspace = await deps.workspaces.of(client.key);
    for (const [topic, market] of client.markets) {
      deps.prices.leave(client, topic);
      deps.prices.join(client, market, workspace);
    }
  }
}
