/** WebSocket endpoints: key, rate and caps before the upgrade, frame limits after it. */

import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import type {
  ApiCaller,
  AccessGate,
  Authenticated,
  Socket,
  SocketRoute,
  SocketListener,
} from '../../../ports/http.ts';
import type { Log } from '../../../ports/log.ts';
import { answerFor, ApiError } from '../../../protocol/errors.ts';
import { CLOSE } from '../../../protocol/api/events.ts';
import { STREAM_PROTOCOL, TICKET_PREFIX } from '../../../protocol/api/tickets.ts';
import { edgeHeaders, headerLines, requestIdOf, requestIds } from '../edge.ts';
import { inRequest } from '../../pino/request-context.ts';
import { countPerSecond } from '../../../risk/rate.ts';
import { MAX_CONTROL_FRAMES_PER_SECOND } from '../../ws/control-frames.ts';

const MAX_FRAGMENTS = 64;
const MAX_BUFFERED_CHUNKS = 1_024;
export const CLOSE_TIMEOUT_MS = 2_000;
/** One tick's frames are sent together up to this size: a system call costs more than a frame. */
const TOGETHER_BYTES = 16 * 1024;

const askToReconnect = (client: WebSocket): void => client.close(CLOSE.restarting, 'the venue is restarting');

interface SocketDeps<Key extends ApiCaller> {
  socketRoutes: readonly SocketRoute<Key>[];
  gate: AccessGate<Key>;
  log: Log;
  addressOf(request: IncomingMessage): string;
  maxPerAddress: number;
  /** The origins of web pages that may connect where tickets are taken. */
  origins: readonly string[];
  /** True when this server serves pages itself; they may connect like those of `origins`. */
  ownPages: boolean;
}

interface Endpoint<Key extends ApiCaller> {
  readonly route: SocketRoute<Key>;
  readonly wss: WebSocketServer;
}

/** The endpoints by path, the ids of upgrade requests, and how many sockets are open. */
interface SocketsState<Key extends ApiCaller> extends SocketDeps<Key> {
  readonly endpoints: ReadonlyMap<string, Endpoint<Key>>;
  readonly ids: WeakMap<IncomingMessage, string>;
  /** Keyed by path and key. */
  readonly perKey: Map<string, number>;
  readonly perAddress: Map<string, number>;
  isShut: boolean;
}

export interface SocketServer {
  /** Refuses new sockets; the open ones go on. */
  shut(): void;
  /** Asks the open sockets to reconnect, and ends those that stay. */
  close(): void;
}

export function serveSockets<Key extends ApiCaller>(server: Server, deps: SocketDeps<Key>): SocketServer {
  const state: SocketsState<Key> = {
    ...deps,
    endpoints: new Map(
      deps.socketRoutes.map((route) => [route.path, { route, wss: openEndpoint(route.maxPayloadBytes) }]),
    ),
    ids: new WeakMap(),
    perKey: new Map(),
    perAddress: new Map(),
    isShut: false,
  };
  for (const { wss } of state.endpoints.values()) {
    wss.on('headers', (lines, request) =>
      lines.push(...headerLines(edgeHeaders(state.ids.get(request) ?? ''))),
    );
    wss.on('wsClientError', ({ message }, stream, request) =>
      reject(stream, new ApiError('bad_request', `${message}.`), state.ids.get(request) ?? ''),
    );
  }
  const onUpgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void =>
    upgrade(state, request, stream, head);
  server.on('upgrade', onUpgrade);

  return {
    shut: () => void (state.isShut = true),
    close() {
      server.off('upgrade', onUpgrade);
      for (const { wss } of state.endpoints.values()) closeEndpoint(wss);
    },
  };
}

const openEndpoint = (maxPayload: number): WebSocketServer =>
  new WebSocketServer({
    noServer: true,
    maxPayload,
    perMessageDeflate: false,
    handleProtocols: chosenProtocol,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_BUFFERED_CHUNKS,
  } as ServerOptions);

function closeEndpoint(wss: WebSocketServer): void {
  for (const client of wss.clients) {
    askToReconnect(client);
    setTimeout(() => client.terminate(), CLOSE_TIMEOUT_MS / 2).unref();
  }
  wss.close();
}

function upgrade<Key extends ApiCaller>(
  state: SocketsState<Key>,
  request: IncomingMessage,
  stream: Duplex,
  head: Buffer,
): void {
  stream.on('error', () => stream.destroy());
  const requestId = requestIdOf(request.headers);
  state.ids.set(request, requestId);
  inRequest(requestIds(requestId, request.headers), () => admit(state, request, stream, head)).catch(
    (error: unknown) => reject(stream, error, requestId),
  );
}

async function admit<Key extends ApiCaller>(
  state: SocketsState<Key>,
  request: IncomingMessage,
  stream: Duplex,
  head: Buffer,
): Promise<void> {
  const { gate, perKey, perAddress } = state;
  const address = state.addressOf(request);
  gate.limitByAddress(address);
  const { route, wss } = endpointOf(state, request);
  const { key } = await admissionOf(gate, request, route);
  const slot = `${route.path} ${key.id}`;
  if ((perKey.get(slot) ?? 0) >= route.maxPerKey)
    throw new ApiError(
      'rate_limited',
      `This key has ${route.maxPerKey} open sockets, which is the maximum. Close one first.`,
      { retryAfterSeconds: 5 },
    );
  if ((perAddress.get(address) ?? 0) >= state.maxPerAddress)
    throw new ApiError('rate_limited', 'Too many sockets from this address.', { retryAfterSeconds: 5 });
  // Limits how many clients reconnect in parallel.
  const release = await gate.takeSlot('socket', key.id);
  stream.once('close', release);
  if (stream.destroyed) return release();
  wss.handleUpgrade(request, stream, head, (socket) => {
    setImmediate(release);
    count(perKey, slot, 1);
    count(perAddress, address, 1);
    serve(state, route, socket, stream, key, () => {
      count(perKey, slot, -1);
      count(perAddress, address, -1);
    });
  });
}

/** Finds the endpoint, and refuses web pages of other origins and parameters in the address. */
function endpointOf<Key extends ApiCaller>(
  { isShut, endpoints, origins, ownPages }: SocketsState<Key>,
  request: IncomingMessage,
): Endpoint<Key> {
  if (isShut)
    throw new ApiError('unavailable', 'The venue is restarting. Connect again.', { retryAfterSeconds: 1 });
  const [path, query] = (request.url ?? '').split('?');
  const found = endpoints.get(path ?? '');
  if (!found) throw new ApiError('not_found', 'There is no WebSocket endpoint at this path.');
  const { origin } = request.headers;
  const listed = (page: string) =>
    origins.includes(page) || (ownPages && URL.canParse(page) && new URL(page).host === request.headers.host);
  if (origin !== undefined && !(found.route.takesTickets && listed(origin)))
    throw new ApiError(
      'unauthorized',
      found.route.takesTickets
        ? "Web pages of this origin may not connect. The venue's operator lists origins in http.origins."
        : 'Web pages may not connect: connect from a server, without an Origin header.',
    );
  if (query !== undefined)
    throw new ApiError(
      'bad_request',
      'A socket takes no parameters. Send the key in the X-API-Key header' +
        `${found.route.takesTickets ? ', or offer a ticket as a subprotocol' : ''}.`,
    );
  return found;
}

async function admissionOf<Key extends ApiCaller>(
  gate: AccessGate<Key>,
  { headers }: IncomingMessage,
  route: SocketRoute<Key>,
): Promise<Authenticated<Key>> {
  const door = { keyKinds: route.keyKinds, rate: 'socket' } as const;
  const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  const ticket = offered.find((name) => name.startsWith(TICKET_PREFIX));
  if (ticket !== undefined && route.takesTickets && gate.redeem) {
    // A browser drops a connection for which the server chose none of its protocols.
    if (!offered.includes(STREAM_PROTOCOL))
      throw new ApiError(
        'bad_request',
        `Offer two subprotocols: "${STREAM_PROTOCOL}" and the ticket. This ticket was not used.`,
      );
    return gate.redeem(ticket, door);
  }
  const key = headers['x-api-key'];
  if (key === undefined && headers.origin !== undefined)
    throw new ApiError(
      'unauthorized',
      'A web page connects with a ticket: POST /api/v1/ws/tickets, then offer ' +
        `"${STREAM_PROTOCOL}" and the ticket as subprotocols.`,
    );
  return gate.authenticate(Array.isArray(key) ? key[0] : key, door);
}

function serve<Key extends ApiCaller>(
  { gate, log }: SocketsState<Key>,
  route: SocketRoute<Key>,
  socket: WebSocket,
  stream: Duplex,
  key: Key,
  left: () => void,
): void {
  const gather = gathering(stream);
  let listener: SocketListener | undefined;
  let over = false;
  /** True once this end has closed: what the peer sends until it has closed too is not read. */
  let closing = false;
  let unwatch = () => {};
  const wrapped: Socket = {
    send(data) {
      // A buffer too is a text frame.
      if (socket.readyState !== socket.OPEN) return;
      gather(data.length);
      socket.send(data, { binary: false });
    },
    close(code, reason) {
      closing = true;
      socket.close(code, reason.slice(0, 120));
      const timer = setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS);
      timer.unref();
    },
    terminate: () => socket.terminate(),
    ping() {
      if (socket.readyState === socket.OPEN) socket.ping();
    },
    bufferedBytes: () => socket.bufferedAmount,
  };
  /** Messages during the closing handshake of a revoked key must be ignored. */
  const finish = (): void => {
    if (over) return;
    over = true;
    unwatch();
    left();
    listener?.closed();
  };
  socket.on('message', (data: Buffer, isBinary) => {
    if (over || closing) return;
    if (isBinary) return wrapped.close(1003, 'text frames only');
    try {
      listener?.message(data.toString());
    } catch (error) {
      log.error({ path: route.path, error }, 'a frame could not be handled');
      wrapped.close(1011, 'internal error');
    }
  });
  const controls = countPerSecond(() => performance.now());
  const control = (): void => {
    if (controls() > MAX_CONTROL_FRAMES_PER_SECOND) wrapped.close(1008, 'too many pings');
  };
  socket.on('ping', control);
  socket.on('pong', () => {
    control();
    listener?.pong();
  });
  // ws closes with the right code.
  socket.on('error', () => {});
  socket.on('close', finish);
  listener = route.open(wrapped, key);
  unwatch = gate.onRevoked(key, () => {
    wrapped.close(1008, 'the key was revoked');
    finish();
  });
}

/** Never the ticket, which would come back to the client in a header. */
const chosenProtocol = (offered: Set<string>): string | false =>
  offered.has(STREAM_PROTOCOL)
    ? STREAM_PROTOCOL
    : ([...offered].find((name) => !name.startsWith(TICKET_PREFIX)) ?? false);

function gathering(stream: Duplex): (bytes: number) => void {
  let gathered = 0;
  let holds = false;
  const letGo = (): void => {
    holds = false;
    stream.uncork();
  };
  return (bytes) => {
    if (!holds) {
      [holds, gathered] = [true, 0];
      stream.cork();
      setImmediate(letGo);
    }
    gathered += bytes;
    if (gathered < TOGETHER_BYTES) return;
    gathered = 0;
    stream.uncork();
    stream.cork();
  };
}

function count(map: Map<string, number>, id: string, by: number): void {
  const next = (map.get(id) ?? 0) + by;
  if (next > 0) map.set(id, next);
  else map.delete(id);
}

function reject(stream: Duplex, error: unknown, requestId: string): void {
  // The peer may keep its half open.
  setTimeout(() => stream.destroy(), CLOSE_TIMEOUT_MS).unref();
  const { status, body, headers } = answerFor(error);
  const text = JSON.stringify(body);
  const more = headerLines({ ...edgeHeaders(requestId), ...headers })
    .map((line) => `${line}\r\n`)
    .join('');
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: ` +
      `application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n${more}Connection: ` +
      `close\r\n\r\n${text}`,
  );
}
