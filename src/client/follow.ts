/** Follows an order by the event stream, or by polling without one. */

import { type OrderEventFrame, zOrderEvent } from '../protocol/api/events.ts';
import { type OrderStatusResponse } from '../protocol/api/status.ts';
import { DistrustError, UnreachableError, VenueError } from './errors.ts';
import type { Transport } from './transport.ts';

/** The common part of the WebSockets of browsers, undici and `ws`. */
export interface SocketLike {
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: { data?: unknown }) => void,
  ): void;
  send(text: string): void;
  close(): void;
}

/**
 * Opens the venue's stream with the key in a header. Without it, as in browsers, the client polls. With
 * `ws`: `(url, headers) => new WebSocket(url, { headers })`.
 */
export type OpenSocket = (url: string, headers: Record<string, string>) => SocketLike;

export interface OrderEvent {
  type: OrderEventFrame['type'];
  orderId: string;
  occurredAt: string;
  status: OrderStatusResponse;
  via: 'stream' | 'poll';
}

export interface FollowOptions {
  /** Polling interval while there is no stream. Default 1,000. */
  pollMs?: number;
  /**
   * Called with each new stage. Stages have no events: with it, the order is also polled while there is a
   * stream.
   */
  onStage?: (status: OrderStatusResponse) => void;
  signal?: AbortSignal;
}

export interface Following extends AsyncIterable<OrderEvent> {
  /** Rejects when following was stopped, or the venue refuses. */
  final: Promise<OrderStatusResponse>;
}

const STREAM_PATH = '/api/v1/ws';
/** A silent stream is checked by polling this often. */
const CHECK_STREAM_MS = 15_000;
const FIRST_RECONNECT_MS = 250;
const LONGEST_RECONNECT_MS = 10_000;

interface FollowDeps {
  transport: Pick<Transport, 'base' | 'leave' | 'key'>;
  openSocket: OpenSocket | undefined;
  read: (signal: AbortSignal) => Promise<OrderStatusResponse>;
}

export function followOrder(
  { transport, openSocket, read }: FollowDeps,
  orderId: string,
  { pollMs = 1_000, onStage, signal }: FollowOptions,
): Following {
  const events = createEventList();
  const stop = new AbortController();
  let isStreaming = () => false;
  let stage: string | undefined;
  let pollTimer: ReturnType<typeof setTimeout> | undefined;

  const aborted = () => end({ error: signal?.reason });
  signal?.addEventListener('abort', aborted, { once: true });

  function end(how: { error?: unknown }): void {
    if (stop.signal.aborted) return;
    signal?.removeEventListener('abort', aborted);
    stop.abort();
    clearTimeout(pollTimer);
    events.end(how);
  }

  function take(event: OrderEvent): void {
    if (stop.signal.aborted || events.has(event)) return;
    if (event.orderId !== orderId || event.status.id !== orderId)
      return end({
        error: new DistrustError(
          'order_id',
          `The venue sent an event of the order ${event.status.id} when asked for ${orderId}.`,
          { orderId },
        ),
      });
    notice(event.status);
    events.add(event);
    if (event.type !== 'order.created') end({});
  }

  function notice(status: OrderStatusResponse): void {
    if (status.stage === stage) return;
    stage = status.stage;
    onStage?.(status);
  }

  function schedulePoll(ms: number): void {
    clearTimeout(pollTimer);
    if (!stop.signal.aborted) pollTimer = setTimeout(() => void poll(), ms);
  }

  async function poll(): Promise<void> {
    try {
      const status = await read(stop.signal);
      take(polled('order.created', status, status.createdAt));
      if (status.status !== 'pending') take(polled(`order.${status.status}`, status, status.updatedAt));
      else if (!stop.signal.aborted) notice(status);
    } catch (error) {
      if (stop.signal.aborted) return;
      const passing =
        error instanceof UnreachableError || (error instanceof VenueError && error.retry === 'later');
      if (!passing) return end({ error });
    }
    schedulePoll(isStreaming() && !onStage ? CHECK_STREAM_MS : pollMs);
  }

  if (signal?.aborted) aborted();
  else if (openSocket)
    isStreaming = openStream(transport, openSocket, orderId, stop.signal, take, () => schedulePoll(0));
  schedulePoll(0);
  return events.following;
}

const polled = (type: OrderEvent['type'], status: OrderStatusResponse, occurredAt: string): OrderEvent => ({
  type,
  orderId: status.id,
  occurredAt,
  status,
  via: 'poll',
});

/** The events that have come, for those who wait for the next one. */
interface EventList {
  following: Following;
  /** Whether an event of the same type has come. */
  has(event: OrderEvent): boolean;
  add(event: OrderEvent): void;
  /** Call once. Without an error, the status of the last event is the final one. */
  end(how: { error?: unknown }): void;
}

function createEventList(): EventList {
  const events: OrderEvent[] = [];
  let wake = () => {};
  let ended: { error?: unknown } | undefined;
  let resolve: (status: OrderStatusResponse) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const final = new Promise<OrderStatusResponse>((yes, no) => ([resolve, reject] = [yes, no]));
  // A caller that only iterates gets the error there.
  final.catch(() => {});
  const following: Following = {
    final,
    async *[Symbol.asyncIterator]() {
      for (let next = 0; ;) {
        const event = events[next];
        if (event) {
          next++;
          yield event;
        } else if (ended) {
          if ('error' in ended) throw ended.error;
          return;
        } else {
          const before = wake;
          await new Promise<void>((resume) => (wake = () => (before(), resume())));
        }
      }
    },
  };
  return {
    following,
    has: (event) => events.some(({ type }) => type === event.type),
    add(event) {
      events.push(event);
      wake();
    },
    end(how) {
      ended = how;
      const last = events.at(-1);
      if ('error' in how || !last) reject(how.error);
      else resolve(last.status);
      wake();
    },
  };
}

/**
 * Keeps a socket open until `ended`, at another replica when one closes it. `missed`: an event may have been
 * missed, so the order is to be polled. Returns a function that says whether events are streamed now.
 */
function openStream(
  { base, leave, key }: FollowDeps['transport'],
  openSocket: OpenSocket,
  orderId: string,
  ended: AbortSignal,
  take: (event: OrderEvent) => void,
  missed: () => void,
): () => boolean {
  let streaming = false;
  let streamed = false;
  let socket: SocketLike | undefined;
  let reconnect: ReturnType<typeof setTimeout> | undefined;
  let reconnectMs = FIRST_RECONNECT_MS;

  function connect(): void {
    const at = base();
    try {
      socket = openSocket(
        at.replace(/^http/, 'ws') + STREAM_PATH,
        key === undefined ? {} : { 'X-API-Key': key },
      );
    } catch {
      // This platform's socket takes no headers; polling continues.
      return;
    }
    const mine = socket;
    mine.addEventListener('open', () =>
      mine.send(JSON.stringify({ op: 'subscribe', topics: [`orders:${orderId}`], id: orderId })),
    );
    mine.addEventListener('message', ({ data }) => receive(String(data)));
    // A close event follows every error.
    mine.addEventListener('error', () => {});
    mine.addEventListener('close', () => {
      if (ended.aborted || mine !== socket) return;
      leave(at);
      if (streaming) missed();
      streaming = false;
      reconnect = setTimeout(connect, reconnectMs);
      reconnectMs = Math.min(reconnectMs * 2, LONGEST_RECONNECT_MS);
    });
  }

  function receive(text: string): void {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      return;
    }
    if ((json as { op?: unknown } | null)?.op === 'subscribed') {
      if (streamed) missed();
      streaming = streamed = true;
      reconnectMs = FIRST_RECONNECT_MS;
      return;
    }
    const { success, data: event } = zOrderEvent.safeParse(json);
    if (success)
      take({
        type: event.type,
        orderId: event.orderId,
        occurredAt: event.occurredAt,
        status: event.data,
        via: 'stream',
      });
  }

  ended.addEventListener('abort', () => {
    clearTimeout(reconnect);
    socket?.close();
  });
  connect();
  return () => streaming;
}

/** Node's socket takes headers; a browser's throws. Node 20 has none. */
export const platformSocket: OpenSocket | undefined = (() => {
  const { WebSocket: Socket } = globalThis as {
    WebSocket?: new (url: string, options: object) => SocketLike;
  };
  return Socket && ((url, headers) => new Socket(url, { headers }));
})();
