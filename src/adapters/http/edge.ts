/** Sets the headers of every answer of the public port, and decides which web pages may read it. */

import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import { API_VERSION } from '../../protocol/api/version.ts';
import type { RequestIds } from '../pino/request-context.ts';

const REQUEST_ID = 'X-Request-Id';
/** Text that is safe in a header, a log line and a support ticket. */
const SANE_ID = /^[A-Za-z0-9][A-Za-z0-9._:/+=@-]{0,127}$/;
/** W3C Trace Context: version, trace id, span id, flags. A later version may append fields. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;
const PREFLIGHT_SECONDS = 600;
const MAY_SEND = ['X-API-Key', 'Content-Type', 'Idempotency-Key', REQUEST_ID, 'traceparent'];
const MAY_READ = [
  REQUEST_ID,
  'API-Version',
  'RateLimit-Policy',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'Allow',
  'Content-Disposition',
];

/** The caller's id of this request when it is sane, else a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && SANE_ID.test(sent) ? sent : randomUUID();
}

/**
 * Returns the ids that each log line of a request names: its own, and the caller's trace if its header is
 * valid.
 */
export function requestIds(requestId: string, { traceparent }: IncomingHttpHeaders): RequestIds {
  const [, traceId] = (typeof traceparent === 'string' && TRACEPARENT.exec(traceparent)) || [];
  return traceId === undefined ? { requestId } : { requestId, traceId };
}

/** Builds the headers of every answer. Public documents replace `Cache-Control`. */
export const edgeHeaders = (requestId: string): Record<string, string> => ({
  [REQUEST_ID]: requestId,
  'API-Version': API_VERSION,
  'Cache-Control': 'no-store',
});

export const headerLines = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

/**
 * Lets web pages of these origins call the API. They send their key in a header, never in a cookie.
 * Preflights go on to the next hooks, which count them against the limit of the address.
 */
export async function allowOrigins(
  app: FastifyInstance,
  origins: readonly string[],
  methods: readonly string[],
): Promise<void> {
  if (origins.length === 0) return;
  await app.register(cors, {
    // A function answers nothing to an origin that is not listed; a list would answer `false`.
    origin: (origin, done) => done(null, origin !== undefined && origins.includes(origin)),
    methods: [...methods],
    allowedHeaders: MAY_SEND,
    exposedHeaders: MAY_READ,
    maxAge: PREFLIGHT_SECONDS,
    credentials: false,
    preflightContinue: true,
    strictPreflight: false,
  });
}
