/** HTTP routes and WebSocket endpoints as data, and their access gate. */

import type { Detail, ErrorCode } from '../protocol/errors.ts';
import type { Schema } from '../protocol/schema.ts';
import type { ApiKey, KeyKind } from './stores/store.ts';

/** `admin` exists on the administrators' server only. */
export type RouteKeyKind = KeyKind | 'admin';

export interface ApiCaller {
  readonly id: string;
}

interface RouteRequest<Body, Query, Params, Key = ApiKey> {
  key: Key;
  body: Body;
  query: Query;
  params: Params;
  id: string;
  header(name: string): string | undefined;
}

/** The server calls `return` once when the client stops reading, even before reading began. */
export interface Download {
  contentType: string;
  filename: string;
  chunks: AsyncIterable<string>;
}

export type RateClass = 'quote' | 'submit' | 'read' | 'socket';

/** Each class has its own slots. `memory` is a read without database access. */
export type LoadKind =
  | 'quote'
  | 'preflight'
  | 'submit'
  | 'read'
  | 'history'
  | 'memory'
  | 'export'
  | 'socket'
  | 'subscribe';

/** Calling it again does nothing. */
export type Release = () => void;

export interface Route<Body = unknown, Query = unknown, Params = unknown, Key = ApiKey> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Fastify syntax, such as `/api/v1/rfq/orders/:id`. */
  path: string;
  keyKinds: readonly RouteKeyKind[];
  rate: RateClass;
  load?: LoadKind;
  summary: string;
  tag: string;
  body?: Schema<Body>;
  query?: Schema<Query>;
  params?: Schema<Params>;
  response: Schema;
  contentType?: string;
  errors?: readonly ErrorCode[];
  headers?: readonly { name: string; description: string; schema: object }[];
  /** Rewrites validation errors where the schema's own would mislead. */
  explain?(details: Detail[], sent: unknown): Detail[];
  /** A string is the JSON body; a `Download` is streamed. */
  handle(request: RouteRequest<Body, Query, Params, Key>): Promise<string | object>;
}

export interface Authenticated<Key = ApiKey> {
  key: Key;
  headers: Readonly<Record<string, string>>;
}

/** Why a request is refused, in the words of the answer. */
export interface Refusal {
  code: ErrorCode;
  message: string;
  retryAfterSeconds: number;
}

export interface AccessGate<Key = ApiKey> {
  /** `key` as sent, which may be invalid; `cost` in requests, 1 by default. */
  limitByAddress(ip: string, request?: { key?: string | undefined; cost?: number }): void;
  /** Checks the key and its rate before the body is read. Throws `ApiError`. */
  authenticate(
    apiKey: string | undefined,
    route: { keyKinds: readonly RouteKeyKind[]; rate: RateClass },
  ): Promise<Authenticated<Key>>;
  /** Does what `authenticate` does, with a ticket in place of a key. Absent where no route takes tickets. */
  redeem?(
    ticket: string,
    route: { keyKinds: readonly RouteKeyKind[]; rate: RateClass },
  ): Promise<Authenticated<Key>>;
  /** Call after `authenticate`. Throws `ApiError`: 429 over the key's share, 503 when the venue is busy. */
  takeSlot(kind: LoadKind, keyId: string): Promise<Release>;
  /**
   * Returns why the venue refuses this request for load, if that can be said at once. Otherwise undefined:
   * `limitByAddress`, `authenticate` and `takeSlot` decide. Absent where nothing is refused for load.
   */
  refusal?(
    apiKey: string | undefined,
    address: string,
    route: { keyKinds: readonly RouteKeyKind[]; rate: RateClass; load?: LoadKind },
  ): Refusal | undefined;
  /** Counts a client that was disconnected without an answer. */
  turnedAway(why: 'connections' | 'unread'): void;
  /** Counts a request that was answered with a 5xx status. */
  failed(route: { rate: RateClass }): void;
  /** Calls `revoked` once. Returns a function that stops watching. */
  onRevoked(key: Key, revoked: () => void): () => void;
}

/** Text frames only. */
export interface Socket {
  send(text: string | Buffer): void;
  close(code: number, reason: string): void;
  /** Ends the connection without a close frame, because the peer is presumed dead. */
  terminate(): void;
  ping(): void;
  bufferedBytes(): number;
}

export interface SocketListener {
  message(text: string): void;
  pong(): void;
  /** Called exactly once. */
  closed(): void;
}

export interface SocketRoute<Key = ApiKey> {
  path: string;
  keyKinds: readonly RouteKeyKind[];
  /** true when web pages of allowed origins may connect, with tickets. */
  takesTickets?: boolean;
  maxPayloadBytes: number;
  maxPerKey: number;
  open(socket: Socket, key: Key): SocketListener;
}
