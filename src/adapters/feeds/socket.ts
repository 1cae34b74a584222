/**
 * A live feed over one WebSocket, replaced after no message for `silentMs`, no price for `quietMs`, or no
 * pong. Its pauses also last as long as the exchange demands, so it opens its connections itself.
 */

import type { ClientRequest, IncomingMessage } from 'node:http';
import { type RawData, WebSocket } from 'ws';
import type { Clock } from '../../ports/clock.ts';
import type { Feed, FeedListener } from '../../ports/feed.ts';
import { openSocket } from '../ws/open-socket.ts';
import { countPerSecond } from '../../risk/rate.ts';
import { createWaits, quotation, readRefusal, readStart, type Refusal, type Waits } from './waits.ts';
import { type FeedEvent, type Format, MAX_MESSAGE_BYTES, type FrameReader, refused } from './format.ts';

export interface SocketFeedOptions {
  format: Format;
  url: string;
  symbols: readonly string[];
  source: string;
  silentMs?: number;
  quietMs?: number;
  pingMs?: number;
  /** Receives every text message as it was sent, before it is read: for recordings. */
  onMessage?: (text: string) => void;
}

export interface FeedTools {
  clock: Clock;
  /** Ms before attempt n (0 is the first retry). */
  backoff: (attempt: number) => number;
  /** The feeds of a process share it; without it, a feed has its own. */
  waits?: Waits;
}

/** The longest wait for the body of a refused handshake. */
const REFUSAL_BODY_MS = 1_000;
const LONGEST_REFUSAL = 1_000;
const STEADY_MS = 30_000;
/** An exchange in a wild market sends some thousands. */
const MAX_FRAMES_PER_SECOND = 20_000;

interface SocketSource extends Required<FeedTools> {
  options: SocketFeedOptions & Required<Pick<SocketFeedOptions, 'silentMs' | 'quietMs' | 'pingMs'>>;
  /** The configured symbols by the exchange's names for them. */
  wanted: ReadonlyMap<string, string>;
  address: string;
  /** Ends the connection, or the pause before the next; undefined before the start. */
  close: (() => void) | undefined;
}

interface Connection {
  socket: WebSocket;
  listener: FeedListener;
  /** How many attempts failed before this one. */
  attempt: number;
  read: FrameReader;
  /** Counts the messages of the current second. */
  frames: () => number;
  over: boolean;
  openedMs: number;
  lastDataMs: number;
  lastPriceMs: number | undefined;
  lastPongMs: number;
  cancelWatch: () => void;
}

export function createSocketFeed(
  { clock, backoff, waits = createWaits(clock) }: FeedTools,
  { silentMs = 10_000, quietMs = 60_000, pingMs = 5_000, ...options }: SocketFeedOptions,
): Feed {
  const { format, url, symbols, source } = options;
  const wanted = new Map(symbols.map((symbol) => [format.canonical(symbol), symbol]));
  const feed: SocketSource = {
    ...{ clock, backoff, waits, wanted },
    options: { ...options, silentMs, quietMs, pingMs },
    address: format.address(url, [...wanted.keys()]),
    close: undefined,
  };
  return {
    source,
    start(listener) {
      if (feed.close === undefined) connect(feed, listener, 0);
    },
    stop() {
      feed.close?.();
      feed.close = () => {};
    },
  };
}

function connect(feed: SocketSource, listener: FeedListener, attempt: number): void {
  const { clock, options, address } = feed;
  const waiting = feed.waits.left(address);
  if (waiting !== undefined) {
    const { reason, ms } = waiting;
    feed.close = clock.after(ms, () => connect(feed, listener, attempt));
    const detail = 'waits as its server asked';
    return listener.trouble?.({ kind: 'disconnected', detail, retryInMs: Math.round(ms), reason });
  }
  const socket = openSocket(
    address,
    { maxPayload: MAX_MESSAGE_BYTES, handshakeTimeout: options.silentMs },
    { nowMs: () => clock.monotonicMs(), onFlood: () => end(feed, connection, 'too many pings') },
  );
  const nowMs = clock.monotonicMs();
  const connection: Connection = {
    ...{ socket, listener, attempt },
    read: options.format.reader(clock.nowMs, [...feed.wanted.keys()]),
    frames: countPerSecond(() => clock.monotonicMs()),
    over: false,
    ...{ openedMs: nowMs, lastDataMs: nowMs, lastPriceMs: undefined, lastPongMs: nowMs },
    cancelWatch: () => {},
  };
  feed.close = () => leave(connection);
  socket.on('open', () => opened(feed, connection));
  socket.on('pong', () => (connection.lastPongMs = clock.monotonicMs()));
  socket.on('message', (frame, binary) => receive(feed, connection, frame, binary));
  socket.on('unexpected-response', (request, response) => refusedBy(feed, connection, request, response));
  socket.on('close', (code, reason) => {
    const words = quotation(reason.toString());
    end(feed, connection, `closed with ${code}${words && `: "${words}"`}`, inWords(feed, reason.toString()));
  });
}

function opened(feed: SocketSource, connection: Connection): void {
  const { clock, options, wanted } = feed;
  if (connection.over) return;
  connection.openedMs = connection.lastDataMs = connection.lastPongMs = clock.monotonicMs();
  for (const text of options.format.greeting([...wanted.keys()])) connection.socket.send(text);
  connection.listener.trouble?.({ kind: 'connected' });
  watch(feed, connection);
}

function watch(feed: SocketSource, connection: Connection): void {
  const { silentMs, quietMs, pingMs } = feed.options;
  const { socket, openedMs, lastDataMs, lastPriceMs, lastPongMs } = connection;
  const now = feed.clock.monotonicMs();
  const [silent, quiet] = [now - lastDataMs, now - (lastPriceMs ?? openedMs)];
  if (silent >= silentMs || quiet >= quietMs) {
    connection.listener.trouble?.({ kind: 'silent', forMs: Math.round(quiet) });
    return end(feed, connection, silent >= silentMs ? 'silent' : 'no prices');
  }
  if (now - lastPongMs >= 2 * pingMs) return end(feed, connection, 'no pong');
  if (socket.readyState === WebSocket.OPEN) socket.ping();
  connection.cancelWatch = feed.clock.after(
    Math.max(1, Math.min(pingMs, silentMs - silent, quietMs - quiet)),
    () => watch(feed, connection),
  );
}

function receive(feed: SocketSource, connection: Connection, frame: RawData, binary: boolean): void {
  if (connection.over) return;
  if (connection.frames() > MAX_FRAMES_PER_SECOND) return end(feed, connection, 'too many frames');
  connection.lastDataMs = feed.clock.monotonicMs();
  const text = frame.toString();
  if (!binary) feed.options.onMessage?.(text);
  const events = binary ? [refused('malformed', null)] : connection.read(text);
  const refusal = mayRefuse(text, events) ? inWords(feed, text) : undefined;
  if (refusal !== undefined) return end(feed, connection, `"${quotation(text)}"`, refusal);
  for (const event of events) {
    if (connection.over) return;
    if (event.kind === 'resync') return end(feed, connection, event.detail);
    if (event.kind === 'quote') takeQuote(feed, connection, event);
    else {
      const symbol = feed.wanted.get(event.symbol ?? '');
      connection.listener.trouble?.(symbol === undefined ? event : { ...event, symbol });
    }
  }
}

function takeQuote(
  { clock, options: { source }, wanted }: SocketSource,
  connection: Connection,
  event: Extract<FeedEvent, { kind: 'quote' }>,
): void {
  const { listener } = connection;
  const symbol = wanted.get(event.symbol);
  if (symbol === undefined) return listener.trouble?.(refused('unknown_symbol', event.symbol));
  connection.lastPriceMs = connection.lastDataMs;
  const { bid, ask, exchangeTimeMs, sequence } = event;
  listener.quote({ source, symbol, bid, ask, exchangeTimeMs, receivedMs: clock.nowMs(), sequence });
}

/** Reads a refusal from a message or from the reason of a close. */
const inWords = ({ clock }: SocketSource, body: string): Refusal | undefined =>
  readRefusal({ status: 200, body }, clock.nowMs());

/** Ends the connection with what the server answers instead of accepting it. */
function refusedBy(
  feed: SocketSource,
  connection: Connection,
  request: ClientRequest,
  response: IncomingMessage,
): void {
  const { clock } = feed;
  const finish = (body: string) => {
    const { statusCode: status = 0, headers } = response;
    const words = quotation(body);
    cancelBody();
    request.destroy();
    end(
      feed,
      connection,
      `status ${status}${words && `, "${words}"`}`,
      readRefusal({ status, header: (name) => headers[name], body }, clock.nowMs()),
    );
  };
  const cancelBody = clock.after(REFUSAL_BODY_MS, () => finish(''));
  void readStart(response).then(
    ({ text }) => finish(text),
    () => finish(''),
  );
}

function end(feed: SocketSource, connection: Connection, detail: string, refusal?: Refusal): void {
  const { clock, backoff, waits, address } = feed;
  const { listener, lastPriceMs, openedMs, attempt } = connection;
  if (connection.over) return;
  leave(connection);
  const steady = lastPriceMs !== undefined && clock.monotonicMs() - openedMs >= STEADY_MS;
  const next = steady ? 0 : attempt;
  const retryInMs = Math.round(
    refusal === undefined ? backoff(next) : Math.max(backoff(next), waits.told(address, refusal)),
  );
  feed.close = clock.after(retryInMs, () => connect(feed, listener, next + 1));
  const reason = refusal && { reason: refusal.reason };
  listener.trouble?.({ kind: 'disconnected', detail, retryInMs, ...reason });
}

function leave(connection: Connection): void {
  connection.over = true;
  connection.cancelWatch();
  connection.socket.terminate();
}

/** A short message that is about no price. */
const mayRefuse = (text: string, events: readonly FeedEvent[]): boolean =>
  text.length <= LONGEST_REFUSAL &&
  events.every((event) => event.kind === 'rejected' || (event.kind === 'refused' && event.symbol === null));
