/** The venue's doors as data: HTTP routes and WebSocket endpoints, and the gate in front of both. A server adapter opens them. */

import type { Detail } from '../protocol/errors.ts';
import type { Schema } from '../protocol/schema.ts';
import type { ApiKey, KeyKind } from './store.ts';

export interface RouteRequest<Body, Query, Params> {
  key: ApiKey;
  body: Body;
  query: Query;
  params: Params;
  /** Of this one request, for the log. */
  id: string;
  header(name: string): string | undefined;
}

/** Which bucket a request drinks from. */
export type RateClass = 'quote' | 'submit' | 'read' | 'socket';

export interface Route<Body = unknown, Query = unknown, Params = unknown> {
  method: 'GET' | 'POST';
  /** Fastify's spelling, such as `/api/v1/rfq/orders/:id`. */
  path: string;
  keyKinds: readonly KeyKind[];
  rate: RateClass;
  summary: string;
  tag: string;
  body?: Schema<Body>;
  query?: Schema<Query>;
  params?: Schema<Params>;
  response: Schema;
  /** Says what is wrong with a body in this route's own words, where the schema's would mislead. */
  explain?(details: Detail[], sent: unknown): Detail[];
  /** A text is the JSON body itself, serialised once by whoever made it. */
  handle(request: RouteRequest<Body, Query, Params>): Promise<string | object> | string | object;
}

export interface Admission {
  key: ApiKey;
  /** Standard `RateLimit-*` fields of this request's bucket. */
  headers: Readonly<Record<string, string>>;
}

export interface Gate {
  /** Before authentication: throws when this address asks too often. */
  knock(ip: string): void;
  /** Key and rate, before anything of a body is read. Throws `ApiError`. Synchronous whenever the key is known already. */
  admit(apiKey: string | undefined, door: { keyKinds: readonly KeyKind[]; rate: RateClass }): Admission | Promise<Admission>;
  /** Calls back, once, when this key is revoked: whatever it holds open ends then. Returns how to stop watching. */
  watch(key: ApiKey, revoked: () => void): () => void;
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

export interface SocketDoor {
  path: string;
  keyKinds: readonly KeyKind[];
  maxPayloadBytes: number;
  /** Open sockets per key at most. */
  maxPerKey: number;
  open(socket: Socket, key: ApiKey): SocketListener;
}
