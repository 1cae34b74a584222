/** HTTP routes and WebSocket endpoints as data, and the gate (authentication, limits) in front of them. */

import type { Detail, ErrorCode } from '../protocol/errors.ts';
import type { Schema } from '../protocol/schema.ts';
import type { ApiKey, KeyKind } from './stores/store.ts';

/** Kinds of keys that a route accepts; `admin` exists on the administrators' server only. */
export type DoorKind = KeyKind | 'admin';

/** What every kind of API key has. */
export interface ApiCaller {
  readonly id: string;
}

export interface RouteRequest<Body, Query, Params, Key = ApiKey> {
  key: Key;
  body: Body;
  query: Query;
  params: Params;
  /** Request id, for the log. */
  id: string;
  header(name: string): string | undefined;
}

/**
 * A response streamed while it is generated. When the client stops reading, `return` is called once, whether
 * or not reading had begun.
 */
export interface Download {
  contentType: string;
  filename: string;
  chunks: AsyncIterable<string>;
}

/** Rate limit bucket of a request. */
export type RateClass = 'quote' | 'submit' | 'read' | 'socket';

/** Concurrency class of a request; each has slots of its own. `memory` is a read without database access. */
export type LoadKind =
  | 'quote'
  | 'preflight'
  | 'submit'
  | 'read'
  | 'memory'
  | 'export'
  | 'socket'
  | 'subscribe';

/** Gives the slot back; calling it again does nothing. */
export type Release = () => void;

export interface Route<Body = unknown, Query = unknown, Params = unknown, Key = ApiKey> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Fastify syntax, such as `/api/v1/rfq/orders/:id`. */
  path: string;
  keyKinds: readonly DoorKind[];
  rate: RateClass;
  /** By default the class of its rate limit. */
  load?: LoadKind;
  summary: string;
  tag: string;
  body?: Schema<Body>;
  query?: Schema<Query>;
  params?: Schema<Params>;
  response: Schema;
  /** Content type of the response when it is not JSON. */
  contentType?: string;
  /** Errors in addition to those that every route may return. */
  errors?: readonly ErrorCode[];
  /** Request headers that the handler reads, besides the key. */
  headers?: readonly { name: string; description: string; schema: object }[];
  /** Rewrites validation errors of the body where the schema's own would mislead. */
  explain?(details: Detail[], sent: unknown): Detail[];
  /** A string is sent as the JSON body as it is; a `Download` is streamed. */
  handle(request: RouteRequest<Body, Query, Params, Key>): Promise<string | object>;
}

export interface Admission<Key = ApiKey> {
  key: Key;
  /** Standard `RateLimit-*` headers of the request's bucket. */
  headers: Readonly<Record<string, string>>;
}

export interface AccessGate<Key = ApiKey> {
  /** Before authentication: throws when this address sends too many requests. */
  limitByAddress(ip: string): void;
  /** Checks the key and its rate before any of the body is read. Throws `ApiError`. */
  authenticate(
    apiKey: string | undefined,
    door: { keyKinds: readonly DoorKind[]; rate: RateClass },
  ): Promise<Admission<Key>>;
  /**
   * Takes a slot for the request, after `authenticate`. Throws `ApiError` when there is none: 429 when the
   * key uses more than its share, 503 when the venue is busy.
   */
  takeSlot(kind: LoadKind, keyId: string): Promise<Release>;
  /** Calls `revoked` once, when this key is revoked. Returns a function that stops watching. */
  onRevoked(key: Key, revoked: () => void): () => void;
}

/** One accepted WebSocket, text frames only. */
export interface Socket {
  /** Ignored once closed. */
  send(text: string | Buffer): void;
  close(code: number, reason: string): void;
  /** Closes without a close frame, because the peer is presumed dead. */
  terminate(): void;
  /** WebSocket ping; the peer's answer arrives as `pong`. */
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
  keyKinds: readonly DoorKind[];
  maxPayloadBytes: number;
  /** Maximum open sockets per key. */
  maxPerKey: number;
  open(socket: Socket, key: Key): SocketListener;
}
