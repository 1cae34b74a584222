/**
 * Doors as data: HTTP routes and WebSocket endpoints, and the gate in front of both. A server adapter opens
 * them, the venue's to holders of API keys.
 */

import type { Detail, ErrorCode } from '../protocol/errors.ts';
import type { Schema } from '../protocol/schema.ts';
import type { ApiKey, KeyKind } from './stores/store.ts';

/** Which keys open a door; `admin` is for the administrators' server alone. */
export type DoorKind = KeyKind | 'admin';

/** What every kind of key has. */
export interface ApiCaller {
  readonly id: string;
}

export interface RouteRequest<Body, Query, Params, Key = ApiKey> {
  key: Key;
  body: Body;
  query: Query;
  params: Params;
  /** Of this one request, for the log. */
  id: string;
  header(name: string): string | undefined;
}

/**
 * An answer that is sent while it is being made. Whoever stops reading ends it: `return` is called once,
 * whether or not reading began.
 */
export interface Download {
  contentType: string;
  filename: string;
  chunks: AsyncIterable<string>;
}

/** Which bucket a request drinks from. */
export type RateClass = 'quote' | 'submit' | 'read' | 'socket';

/**
 * What a request asks of the machine: each kind has places of its own. `memory` is a read that no database is
 * asked for.
 */
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
  /** Fastify's spelling, such as `/api/v1/rfq/orders/:id`. */
  path: string;
  keyKinds: readonly DoorKind[];
  rate: RateClass;
  /** By default that of its rate. */
  load?: LoadKind;
  summary: string;
  tag: string;
  body?: Schema<Body>;
  /**
   * A quick way to read what most bodies look like: exactly what the schema would answer, or undefined to
   * leave it to the schema.
   */
  plainBody?(json: unknown): Body | undefined;
  query?: Schema<Query>;
  params?: Schema<Params>;
  response: Schema;
  /** Of the answer, when it is not JSON. */
  contentType?: string;
  /** Errors beyond those that any route may answer. */
  errors?: readonly ErrorCode[];
  /** Request headers that mean something here beside the key; read by the handler. */
  headers?: readonly { name: string; description: string; schema: object }[];
  /** Says what is wrong with a body in this route's own words, where the schema's would mislead. */
  explain?(details: Detail[], sent: unknown): Detail[];
  /** A text is the JSON body itself, serialised once by whoever made it; a `Download` is streamed. */
  handle(request: RouteRequest<Body, Query, Params, Key>): Promise<string | object> | string | object;
}

export interface Admission<Key = ApiKey> {
  key: Key;
  /** Standard `RateLimit-*` fields of this request's bucket. */
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
   * Takes a slot for the request, after `authenticate`. Throws `ApiError` when there is none: 429 when the key
   * uses more than its share, 503 when the venue is busy.
   */
  takeSlot(kind: LoadKind, keyId: string): Promise<Release>;
  /** Calls `revoked` once, when this key is revoked. Returns a function that stops watching. */
  onRevoked(key: Key, revoked: () => void): () => void;
}

/** One accepted WebSocket, text frames only. */
export interface Socket {
  /** Dropped silently once closed. */
  send(text: string | Buffer): void;
  close(code: number, reason: string): void;
  /** Without a farewell: the other side is presumed dead. */
  terminate(): void;
  /** WebSocket-level ping; the answer arrives as `pong`. */
  ping(): void;
  bufferedBytes(): number;
}

export interface SocketListener {
  message(text: string): void;
  pong(): void;
  /** Exactly once, whatever the reason. */
  closed(): void;
}

export interface SocketRoute<Key = ApiKey> {
  path: string;
  keyKinds: readonly DoorKind[];
  maxPayloadBytes: number;
  /** Open sockets per key at most. */
  maxPerKey: number;
  open(socket: Socket, key: Key): SocketListener;
}
