/** Operations server: health, readiness, metrics and admin routes. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { BaseError, UpstreamError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import { limitConnections } from './connections.ts';
import { isLocalHost } from './local-host.ts';
import { type LoopWatch, watchLoop } from '../process/loop-watch.ts';

interface OpsAnswer {
  status: number;
  /** Anything but a string is sent as JSON, with bigints as decimal strings. */
  body: unknown;
  contentType?: string;
}

export interface OpsRoute {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** The keys that the query may have, each once. Absent: none. `any`: the route does not read its query. */
  query?: readonly string[] | 'any';
  /** `address`: the peer of the connection. */
  handle(request: { query: URLSearchParams; body: string; id: string; address: string }): Promise<OpsAnswer>;
}

export interface OpsServer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

interface OpsOptions {
  host: string;
  /** 0 chooses a free port. */
  port: number;
  routes: readonly OpsRoute[];
  log: Log;
  /** Refuses requests that a web page could have made. */
  localOnly?: boolean;
  token?: string;
  /** Every path answers below this too, such as "/v1". */
  prefix?: string;
  /**
   * Limits the time to the end of the headers, ms; `requestTimeoutMs` limits that to the end of the request.
   */
  headersTimeoutMs?: number;
  requestTimeoutMs?: number;
  /** A client that takes nothing for so long is disconnected; ms. */
  stalledMs?: number;
  maxConnectionsPerAddress?: number;
}

export type Readiness = () => Promise<readonly string[]>;

const MAX_BODY_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 1_000;

export function healthRoutes({
  ready,
  metrics,
  loop = watchLoop(),
}: {
  ready: Readiness;
  metrics: { contentType: string; text(): Promise<string> };
  loop?: LoopWatch;
}): OpsRoute[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      query: 'any',
      handle: async () => ({
        status: 200,
        body: { status: 'ok', uptimeSeconds: Math.floor(process.uptime()) },
      }),
    },
    {
      method: 'GET',
      path: '/readyz',
      query: 'any',
      async handle() {
        const reasons = [...loop.reasons(), ...(await ready())];
        return { status: reasons.length === 0 ? 200 : 503, body: { ready: reasons.length === 0, reasons } };
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      query: 'any',
      handle: async () => ({ status: 200, body: await metrics.text(), contentType: metrics.contentType }),
    },
  ];
}

export async function startOps({
  host,
  port,
  routes,
  log,
  localOnly = false,
  token,
  prefix,
  headersTimeoutMs = 5_000,
  requestTimeoutMs = 10_000,
  stalledMs = 60_000,
  maxConnectionsPerAddress = 250,
}: OpsOptions): Promise<OpsServer> {
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 30_000,
    },
    (request, response) => {
      const before = turns.get(request.socket) ?? Promise.resolve();
      turns.set(
        request.socket,
        before.then(() => respond(request, response)),
      );
    },
  );
  /** A connection's next request waits until its last answer was taken: a client may send many unread. */
  const turns = new WeakMap<Socket, Promise<void>>();

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.socket.destroyed) return;
    const taken = new Promise<void>((resolve) => response.once('close', resolve));
    const { status, body, contentType } = await answer(request);
    const text = typeof body === 'string' ? body : `${JSON.stringify(body, bigintAsText)}\n`;
    response.writeHead(status, {
      'content-type':
        contentType ?? (typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'),
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    response.end(request.method === 'HEAD' ? undefined : text);
    await taken;
  }

  server.maxConnections = MAX_CONNECTIONS;
  server.timeout = stalledMs;
  limitConnections(server, { perAddress: maxConnectionsPerAddress });

  async function answer(request: IncomingMessage): Promise<OpsAnswer> {
    const refuse = (status: number, code: string, message: string): OpsAnswer => ({
      status,
      body: { error: { code, message } },
    });
    try {
      if (
        localOnly &&
        (request.headers.origin !== undefined ||
          request.headers['sec-fetch-site'] !== undefined ||
          !isLocalHost(request.headers.host))
      ) {
        return refuse(
          403,
          'forbidden',
          'This server answers local programs only, not web pages. Send the request from this ' +
            'machine, without an Origin header.',
        );
      }
      if (token !== undefined && !sameText(request.headers.authorization ?? '', `Bearer ${token}`))
        return refuse(
          401,
          'unauthorized',
          'This server requires its token: Authorization: Bearer <text of the configured token file>.',
        );
      if (!URL.canParse(request.url ?? '', 'http://ops'))
        return refuse(400, 'bad_request', 'The request line holds no path.');
      const url = new URL(request.url ?? '', 'http://ops');
      const path =
        prefix !== undefined && url.pathname.startsWith(`${prefix}/`)
          ? url.pathname.slice(prefix.length)
          : url.pathname;
      const here = routes.filter((route) => idAt(route.path, path) !== undefined);
      if (here.length === 0)
        return refuse(
          404,
          'not_found',
          `This path does not exist. Paths: ${routes.map((route) => `${route.method} ${route.path}`).join(', ')}.`,
        );
      const route = here.find(
        ({ method }) => method === (request.method === 'HEAD' ? 'GET' : request.method),
      );
      if (!route)
        return refuse(
          405,
          'method_not_allowed',
          `Use ${here.map(({ method }) => method).join(' or ')} here.`,
        );
      const misread = refuseQuery(route, url.searchParams);
      if (misread !== undefined) return misread;
      return await route.handle({
        query: url.searchParams,
        body: await readBody(request),
        id: idAt(route.path, path) ?? '',
        address: request.socket.remoteAddress ?? 'unknown',
      });
    } catch (error) {
      if (error instanceof BaseError && error.retry === 'never' && error.code !== 'invariant')
        return refuse(400, error.code, error.message);
      log.error({ err: error, path: request.url }, 'the operations server could not answer a request');
      return refuse(503, 'unavailable', 'The answer could not be made; the log says why.');
    }
  }

  await new Promise<void>((resolve, reject) => {
    const refused = (cause: NodeJS.ErrnoException) =>
      reject(
        new UpstreamError(
          `The operations port ${port} on ${host} cannot be opened ` +
            `(${cause.code ?? 'unknown error'}). Choose another port or stop the process that uses it.`,
          { code: 'port_unavailable', cause },
        ),
      );
    server.once('error', refused);
    server.listen(port, host, () => {
      server.off('error', refused);
      resolve();
    });
  });
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    close: () => closeServer(server),
  };
}

/**
 * Returns the refusal of a query that the route would not read as it is meant: a key that it does not know
 * would be ignored, and more be answered or done than was asked for.
 */
export function refuseQuery(
  { method, path, query: known = [] }: Pick<OpsRoute, 'method' | 'path' | 'query'>,
  query: URLSearchParams,
): OpsAnswer | undefined {
  if (known === 'any') return undefined;
  const refuse = (message: string): OpsAnswer => ({
    status: 400,
    body: { error: { code: 'bad_request', message } },
  });
  for (const key of query.keys()) {
    if (!known.includes(key))
      return refuse(
        `${method} ${path} does not read "${key.slice(0, 40)}" in its query: ` +
          (known.length === 0 ? 'it takes none.' : `it takes ${known.join(', ')}.`),
      );
    if (query.getAll(key).length > 1) return refuse(`"${key}" is given twice in the query. Give it once.`);
  }
  return undefined;
}

const bigintAsText = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;

const sameText = (given: string, wanted: string): boolean => {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
};

function idAt(pattern: string, path: string): string | undefined {
  if (pattern === path) return '';
  if (!pattern.endsWith('/:id')) return undefined;
  const [stem, rest] = [pattern.slice(0, -3), path.slice(pattern.length - 3)];
  if (!path.startsWith(stem) || rest === '' || rest.includes('/')) return undefined;
  try {
    return decodeURIComponent(rest);
  } catch {
    return undefined;
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Read to the end so that the client receives the answer.
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks).toString('utf8') : '';
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
