/** Follows an order by the event stream, or by polling without one. */

import { type OrderEventFrame, zOrderEvent } from '../protocol/api/events.ts';
import { type OrderStatusResponse } from '../protocol/api/status.ts';
import { DistrustError, UnreachableError, VenueError } from './errors.ts';
import type { Transport } from './transport.ts';

/** The common part of the WebSockets of browsers, undici and `ws`. */
interface SocketLike {
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
  const events: OrderEvent[] = [];
  /** Aborted once: after the final event, or with the error. */
  const stop = new AbortController();
  const { signal: ended } = stop;
  let wake = () => {};
  let isStreaming: (() => boolean) | undefined;
  let stage: string | undefined;
  let pollTimer: ReturnType<typeof setTimeout> | undefined;

  const final = new Promise<OrderStatusResponse>((resolve, reject) =>
    ended.addEventListener('abort', () => {
      clearTimeout(pollTimer);
      const last = events.at(-1);
      if (isFinal(last)) resolve(last.status);
      else reject(ended.reason);
      wake();
    }),
  );
  // A caller that only iterates gets the error there.
  final.catch(() => {});

  function take(event: OrderEvent): void {
    if (ended.aborted || events.some(({ type }) => type === event.type)) return;
    if (event.orderId !== orderId || event.status.id !== orderId)
      return stop.abort(
        new DistrustError(
          'order_id',
          `The venue sent an event of the order ${event.status.id} when asked for ${orderId}.`,
          { orderId },
        ),
      );
    notice(event.status);
    events.push(event);
    wake();
    if (isFinal(event)) stop.abort();
  }

  function notice(status: OrderStatusResponse): void {
    if (status.stage === stage) return;
    stage = status.stage;
    onStage?.(status);
  }

  function schedulePoll(ms: number): void {
    clearTimeout(pollTimer);
    if (!ended.aborted) pollTimer = setTimeout(() => void poll(), ms);
  }

  async function poll(): Promise<void> {
    try {
      const status = await read(ended);
      take(eventOf('poll', status.id, 'order.created', status.createdAt, status));
      if (status.status !== 'pending')
        take(eventOf('poll', status.id, `order.${status.status}`, status.updatedAt, status));
      else if (!ended.aborted) notice(status);
    } catch (error) {
      const passing =
        error instanceof UnreachableError || (error instanceof VenueError && error.retry === 'later');
      if (!passing) return stop.abort(error);
    }
    schedulePoll(isStreaming?.() && !onStage ? CHECK_STREAM_MS : pollMs);
  }

  if (signal?.aborted) stop.abort(signal.reason);
  signal?.addEventListener('abort', () => stop.abort(signal.reason), { signal: ended });
  if (openSocket && !ended.aborted)
    isStreaming = openStream(transport, openSocket, orderId, ended, take, schedulePoll);
  schedulePoll(0);

  return {
    final,
    async *[Symbol.asyncIterator]() {
      for (let next = 0; ;) {
        const event = events[next];
        if (event) {
          next++;
          yield event;
        } else if (ended.aborted) {
          await final;
          return;
        } else {
          const before = wake;
          await new Promise<void>((resume) => (wake = () => (before(), resume())));
        }
      }
    },
  };
}

const isFinal = (event?: OrderEvent): event is OrderEvent => !!event && event.type !== 'order.created';

const eventOf = (
  via: OrderEvent['via'],
  orderId: string,
  type: OrderEvent['type'],
  occurredAt: string,
  status: OrderStatusResponse,
): OrderEvent => ({ type, orderId, occurredAt, status, via });

/**
 * Keeps a socket open until `ended`, at another replica when one closes it. Returns a function that says
 * whether events are streamed now.
 */
function openStream(
  { base, leave, key }: FollowDeps['transport'],
  openSocket: OpenSocket,
  orderId: string,
  ended: AbortSignal,
  take: (event: OrderEvent) => void,
  schedulePoll: (ms: number) => void,
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
      if (streaming) schedulePoll(0);
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
      // Between two streams an event may have been missed.
      if (streamed) schedulePoll(0);
      streaming = streamed = true;
      reconnectMs = FIRST_RECONNECT_MS;
      return;
    }
    const { data: event } = zOrderEvent.safeParse(json);
    if (event) take(eventOf('stream', event.orderId, event.type, event.occurredAt, event.data));
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
