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

export function followOrder(
  {
    transport: { base, leave, key },
    openSocket,
    read,
  }: {
    transport: Pick<Transport, 'base' | 'leave' | 'key'>;
    openSocket: OpenSocket | undefined;
    read: (signal: AbortSignal) => Promise<OrderStatusResponse>;
  },
  orderId: string,
  { pollMs = 1_000, onStage, signal }: FollowOptions,
): Following {
  const events: OrderEvent[] = [];
  const stop = new AbortController();
  let wake = () => {};
  let ended: { error?: unknown } | undefined;
  let resolve: (status: OrderStatusResponse) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const final = new Promise<OrderStatusResponse>((yes, no) => ([resolve, reject] = [yes, no]));
  // A caller that only iterates gets the error there.
  final.catch(() => {});

  let stage: string | undefined;
  function notice(status: OrderStatusResponse): void {
    if (status.stage === stage) return;
    stage = status.stage;
    onStage?.(status);
  }

  let streaming = false;
  let streamed = false;
  let socket: SocketLike | undefined;
  let reconnect: ReturnType<typeof setTimeout> | undefined;
  let pollTimer: ReturnType<typeof setTimeout> | undefined;
  let reconnectMs = FIRST_RECONNECT_MS;

  const aborted = () => end({ error: signal?.reason });
  signal?.addEventListener('abort', aborted, { once: true });

  function end(how: { error?: unknown }): void {
    if (ended) return;
    ended = how;
    signal?.removeEventListener('abort', aborted);
    stop.abort();
    clearTimeout(reconnect);
    clearTimeout(pollTimer);
    socket?.close();
    const last = events.at(-1);
    if ('error' in how || !last) reject(how.error);
    else resolve(last.status);
    wake();
  }

  function take(event: OrderEvent): void {
    if (ended || events.some(({ type }) => type === event.type)) return;
    if (event.orderId !== orderId || event.status.id !== orderId)
      return end({
        error: new DistrustError(
          'order_id',
          `The venue sent an event of the order ${event.status.id} when asked for ${orderId}.`,
          { orderId },
        ),
      });
    notice(event.status);
    events.push(event);
    wake();
    if (event.type !== 'order.created') end({});
  }

  function connect(): void {
    if (ended || !openSocket) return;
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
      if (ended || mine !== socket) return;
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
    const event = zOrderEvent.safeParse(json);
    if (event.success)
      take({
        type: event.data.type,
        orderId: event.data.orderId,
        occurredAt: event.data.occurredAt,
        status: event.data.data,
        via: 'stream',
      });
  }

  function schedulePoll(ms: number): void {
    clearTimeout(pollTimer);
    if (!ended) pollTimer = setTimeout(() => void poll(), ms);
  }

  async function poll(): Promise<void> {
    try {
      const status = await read(stop.signal);
      take({ type: 'order.created', orderId: status.id, occurredAt: status.createdAt, status, via: 'poll' });
      if (status.status !== 'pending')
        take({
          type: `order.${status.status}`,
          orderId: status.id,
          occurredAt: status.updatedAt,
          status,
          via: 'poll',
        });
      else if (!ended) notice(status);
    } catch (error) {
      if (ended) return;
      const passing =
        error instanceof UnreachableError || (error instanceof VenueError && error.retry === 'later');
      if (!passing) return end({ error });
    }
    schedulePoll(streaming && !onStage ? CHECK_STREAM_MS : pollMs);
  }

  if (signal?.aborted) aborted();
  connect();
  schedulePoll(0);

  return {
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
}

/** Node's socket takes headers; a browser's throws. Node 20 has none. */
export const platformSocket: OpenSocket | undefined = (() => {
  const { WebSocket: Socket } = globalThis as {
    WebSocket?: new (url: string, options: object) => SocketLike;
  };
  return Socket && ((url, headers) => new Socket(url, { headers }));
})();
