/**
 * Refuses requests for load before anything else is done for them, their body unread. An overloaded venue
 * refuses most requests, so a refusal must cost little: it takes neither the router nor its hooks. `npm run
 * bench -- venue` prints its CPU.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AccessGate, ApiCaller, Refusal, Route } from '../../ports/http.ts';
import { ERROR_STATUS } from '../../protocol/errors.ts';
import { edgeHeaders, requestIdOf } from './edge.ts';

interface DoorDeps<Key extends ApiCaller> {
  readonly routes: readonly Route<unknown, unknown, unknown, Key>[];
  readonly gate: AccessGate<Key>;
  readonly safeHeaders: Readonly<Record<string, string>>;
  clientAddress(request: IncomingMessage): string;
}

/** Call it before other listeners of the server. Routes with parameters are left to the router. */
export function refuseEarly<Key extends ApiCaller>(server: Server, deps: DoorDeps<Key>): void {
  const { gate } = deps;
  if (!gate.refusal) return;
  const routes = new Map(
    deps.routes
      .filter(({ path }) => !path.includes(':'))
      .map((route) => [`${route.method} ${route.path}`, route]),
  );
  const others = server.listeners('request') as ((
    request: IncomingMessage,
    response: ServerResponse,
  ) => void)[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const route = routes.get(`${request.method} ${request.url}`);
    const refusal = route && refusalOf(deps, request, route);
    if (refusal) {
      gate.failed(route);
      return answer(deps, request, response, refusal);
    }
    for (const listener of others) listener.call(server, request, response);
  });
}

function refusalOf<Key extends ApiCaller>(
  { gate, clientAddress }: DoorDeps<Key>,
  request: IncomingMessage,
  route: Route<unknown, unknown, unknown, Key>,
): Refusal | undefined {
  const { origin, 'x-api-key': apiKey } = request.headers;
  // A web page can read only answers that name its origin, and a repeated header is an error.
  if (origin !== undefined || typeof apiKey !== 'string') return undefined;
  return gate.refusal?.(apiKey, clientAddress(request), route);
}

function answer<Key extends ApiCaller>(
  { safeHeaders }: DoorDeps<Key>,
  request: IncomingMessage,
  response: ServerResponse,
  { code, message, retryAfterSeconds }: Refusal,
): void {
  const text = JSON.stringify({ error: { code, message } });
  response.writeHead(ERROR_STATUS[code], {
    ...safeHeaders,
    ...edgeHeaders(requestIdOf(request.headers)),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': text.length,
    'Retry-After': retryAfterSeconds,
  });
  response.end(text);
}
