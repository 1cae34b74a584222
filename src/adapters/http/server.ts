/** The venue's HTTP server: limits, strict bodies, and the API's two error shapes. */

import type { AddressInfo, Socket } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import proxyAddress from '@fastify/proxy-addr';
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchema,
} from 'fastify';
import type { Clock } from '../../ports/clock.ts';
import type {
  ApiCaller,
  Authenticated,
  Download,
  AccessGate,
  Release,
  Route,
  SocketRoute,
} from '../../ports/http.ts';
import type { Log } from '../../ports/log.ts';
import { answerFor, ApiError, detailsOf, InvalidError } from '../../protocol/errors.ts';
import { type Schema, zNothing } from '../../protocol/schema.ts';
import { readStrictJson } from '../../protocol/strict-json.ts';
import { inRequest } from '../pino/request-context.ts';
import { CLOSE_TIMEOUT_MS, serveSockets } from './sockets/socket-server.ts';
import { type ApiDocuments, createApiDocuments } from './api-documents.ts';
import { bareAddress, clientOf } from './client-address.ts';
import { createUnread, limitConnections, onEnd, type Unread } from './connections.ts';
import { DOCS_POLICY, docsPage, scalarScript, SCRIPT_PATH } from './docs-page.ts';
import { createDocument } from './documents.ts';
import { allowOrigins, edgeHeaders, headerLines, requestIdOf, requestIds } from './edge.ts';
import { bodyTooLarge, VENUE_TITLE } from './openapi.ts';
import { isLocalHost } from './local-host.ts';
import { CONSOLE_ROOT, type PagePolicy, servePages } from './pages.ts';
import { securityHeaders } from './security-headers.ts';

export interface HttpServer extends ApiDocuments {
  readonly url: string;
  readonly port: number;
  /** Answers new requests with 503, finishes those in progress, and asks sockets to reconnect. */
  close(): Promise<void>;
}

export interface HttpOptions {
  host?: string;
  port: number;
  bodyLimitBytes?: number;
  maxConnections?: number;
  maxSocketsPerAddress?: number;
  /** Sockets and others. */
  maxConnectionsPerAddress?: number;
  /**
   * Limits the time to the end of the headers, ms; `requestTimeoutMs` limits that to the end of the request.
   */
  headersTimeoutMs?: number;
  requestTimeoutMs?: number;
  /** A client that takes nothing for so long is disconnected; ms. */
  stalledMs?: number;
  /** Limits a whole download, which holds a slot; ms. */
  downloadTimeoutMs?: number;
  /** Beside loopback names; any Host when left out. */
  hostNames?: readonly string[];
  /** Addresses and networks (CIDR) whose X-Forwarded-For is trusted; none by default. */
  trustProxy?: string[];
  /** Origins of web pages that may call the API and open streams; none by default. */
  origins?: readonly string[];
  /** Pages under /console; none by default. */
  pages?: ConsolePages;
  title?: string;
}

export interface ConsolePages extends PagePolicy {
  /** The built pages: `page` and `assets/`. */
  folder: string;
  page: string;
  /** The data that a page needs before anybody has given it a key; anyone can read it. */
  setup: object;
}

/** An idle connection closes after this; proxies must close theirs earlier. */
export const KEEP_ALIVE_MS = 30_000;
const CLOSE_GRACE_MS = 4_000;
/** Limits the bytes of all answers that no client has read yet. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

declare module 'fastify' {
  interface FastifyRequest {
    state: RequestState | null;
  }
}

interface RequestState {
  caller?: Authenticated<ApiCaller>;
  startedMs: number;
  release?: Release;
  /** True while the handler runs: then it releases the slot, even if the connection has closed. */
  handling: boolean;
  closed: boolean;
}

/** A schema violation. Errors of handlers are final, but a route may rewrite this one. */
class ShapeError extends InvalidError {}

export async function startHttp<Key extends ApiCaller>(
  {
    routes,
    socketRoutes,
    gate,
    clock,
    log,
  }: {
    routes: readonly Route<unknown, unknown, unknown, Key>[];
    socketRoutes: readonly SocketRoute<Key>[];
    gate: AccessGate<Key>;
    clock: Clock;
    log: Log;
  },
  {
    host = '127.0.0.1',
    port,
    bodyLimitBytes = 256 * 1024,
    maxConnections = 10_000,
    maxSocketsPerAddress = 2_500,
    maxConnectionsPerAddress = maxSocketsPerAddress + 500,
    headersTimeoutMs = 10_000,
    requestTimeoutMs = 20_000,
    stalledMs = 60_000,
    downloadTimeoutMs = 600_000,
    hostNames,
    trustProxy = [],
    origins = [],
    pages,
    title = VENUE_TITLE,
  }: HttpOptions,
): Promise<HttpServer> {
  const safeHeaders = await securityHeaders();
  const isListedProxy = proxyAddress.compile(trustProxy);
  const isProxy = (address: string, hop: number) => isListedProxy(bareAddress(address), hop);
  const clientAddress = (request: IncomingMessage) => clientOf(proxyAddress(request, isProxy));
  const app = Fastify({
    logger: false,
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    trustProxy: isProxy,
    return503OnClosing: true,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    genReqId: ({ headers }) => requestIdOf(headers),
    routerOptions: {
      caseSensitive: true,
      ignoreTrailingSlash: false,
      ignoreDuplicateSlashes: false,
      maxParamLength: 200,
    },
    http: {
      headersTimeout: headersTimeoutMs,
      maxHeaderSize: 16 * 1024,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: true,
    },
    // The router answers these itself, before any hook.
    frameworkErrors: (_error, request, reply: FastifyReply) =>
      void fail(stamped(request, reply), refusedAtDoor(request, reply) ?? unknownPath()),
    clientErrorHandler(error, socket) {
      if (!socket.writable) return;
      // The peer may keep its half open, and send.
      setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS).unref();
      const address = (socket as Socket).remoteAddress ?? '';
      // A proxy's address names no client.
      if (!isProxy(address, 0) && overLimit(clientOf(address))) return void socket.destroy();
      const overflow = (error as NodeJS.ErrnoException).code === 'HPE_HEADER_OVERFLOW';
      const late = (error as NodeJS.ErrnoException).code === 'ERR_HTTP_REQUEST_TIMEOUT';
      const { status, body } = answerFor(
        overflow
          ? new ApiError('header_too_large', 'The headers exceed 16 KB.')
          : new ApiError(
              'bad_request',
              late ? 'The request took too long to arrive.' : 'That is not an HTTP request.',
            ),
      );
      const text = JSON.stringify(body);
      socket.end(
        `HTTP/1.1 ${late ? 408 : status} ` +
          `${late ? 'Request Timeout' : 'Bad Request'}\r\nContent-Type: ` +
          `application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n` +
          `${headerLines(edgeHeaders(requestIdOf({}))).join('\r\n')}\r\nConnection: ` +
          `close\r\n\r\n${text}`,
      );
    },
  });
  app.server.maxHeadersCount = 100;
  app.server.maxConnections = maxConnections;
  app.server.timeout = stalledMs;
  limitConnections(app.server, {
    perAddress: maxConnectionsPerAddress,
    isExempt: (address) => isProxy(address, 0),
    refused: () => gate.turnedAway('connections'),
  });

  function fail(reply: FastifyReply, error: unknown): FastifyReply {
    const answer = answerFor(error);
    if (answer.ours)
      log.error({ ...idsOf(reply.request), error }, 'a request failed because of an internal error');
    reply.headers(answer.headers);
    // The client may still be sending the oversized body.
    if (answer.status === 413) reply.header('Connection', 'close');
    return reply.code(answer.status).type('application/json').send(JSON.stringify(answer.body));
  }

  const stamped = (request: FastifyRequest, reply: FastifyReply) =>
    reply.headers({ ...safeHeaders, ...edgeHeaders(request.id) });
  app.decorateRequest('state', null);
  app.addHook('onRequest', (request, reply, done) => {
    stamped(request, reply);
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const { route } = request.routeOptions.config as { route?: Route };
    if (body.length === 0 && route && !route.body) return done(null, undefined);
    const read = readStrictJson(body as Buffer);
    if (read.ok) done(null, read.value);
    else done(read.error);
  });
  app.setValidatorCompiler(({ schema, httpPart }) => {
    const part = httpPart === 'querystring' ? 'query' : httpPart === 'params' ? 'path' : (httpPart ?? 'body');
    return (data: unknown) => {
      const parsed = (schema as unknown as Schema).safeParse(data);
      return parsed.success
        ? { value: parsed.data }
        : { error: new ShapeError(detailsOf(parsed.error, part, data)) };
    };
  });
  // Tests verify the response schemas.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));

  app.setErrorHandler((error: FastifyError, request, reply) => {
    const route = (request.routeOptions.config as { route?: Route }).route;
    if (error instanceof ShapeError && route?.explain)
      return fail(reply, new InvalidError(route.explain([...error.details], request.body)));
    return fail(reply, translated(error, bodyLimitBytes));
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    const methods = routes.filter((route) => pattern(route.path).test(path)).map(({ method }) => method);
    if (methods.length === 0 || methods.includes(request.method as Route['method']))
      return fail(reply, unknownPath());
    return fail(
      reply.header('Allow', methods.join(', ')),
      new ApiError('method_not_allowed', `This path takes ${methods.join(' or ')}.`),
    );
  });

  // After the error handler, which the plugin's own route must have too.
  await allowOrigins(app, origins, [...new Set(routes.map(({ method }) => method))]);
  app.addHook('onRequest', (request, reply, done) => done(refusedAtDoor(request, reply)));

  let closing = false;
  let inProgress = 0;
  let idle = () => {};
  app.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    inProgress += 1;
    onEnd(socket, response, () => {
      inProgress -= 1;
      if (inProgress === 0) idle();
    });
  });
  function overLimit(address: string, key?: string): Error | undefined {
    try {
      gate.limitByAddress(address, { key });
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }
  function refusedAtDoor(request: FastifyRequest, reply: FastifyReply): Error | undefined {
    if (closing) return refusal(reply);
    const over = overLimit(clientAddress(request.raw), header(request, 'x-api-key'));
    if (over || hostNames === undefined || isLocalHost(request.headers.host, hostNames)) return over;
    return new ApiError(
      'not_found',
      'This port does not answer for that Host. Add its name to admin.hostNames.',
    );
  }
  // Node would answer 417 without asking us; an expectation may be ignored.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  const unread = createUnread(MAX_UNREAD_BYTES, () => gate.turnedAway('unread'));
  for (const route of routes)
    register(app, route, { gate, clock, log, bodyLimitBytes, downloadTimeoutMs, unread });
  const hidden = { schema: { hide: true } as FastifySchema };
  const api = createApiDocuments({
    title,
    routes: routes as unknown as readonly Route[],
    hasSockets: socketRoutes.length > 0,
    bodyLimitBytes,
  });
  app.get('/openapi.json', hidden, (request, reply) => documents.openapi(request, reply));
  if (socketRoutes.length > 0)
    app.get('/asyncapi.json', hidden, (request, reply) => documents.asyncapi(request, reply));
  app.get('/docs', hidden, (request, reply) =>
    documents.docs(request, reply.header('Content-Security-Policy', DOCS_POLICY)),
  );
  app.get(SCRIPT_PATH, hidden, (request, reply) => documents.script(request, reply));
  if (pages) {
    app.get(`${CONSOLE_ROOT}/setup.json`, hidden, async () => pages.setup);
    await servePages(app, pages);
  }

  const sockets = serveSockets(app.server, {
    socketRoutes,
    gate,
    log,
    addressOf: clientAddress,
    maxPerAddress: maxSocketsPerAddress,
    origins,
    ownPages: pages !== undefined,
  });
  await app.ready();
  const json = 'application/json; charset=utf-8';
  const charge = (request: FastifyRequest, cost: number) =>
    gate.limitByAddress(clientAddress(request.raw), { cost });
  const documents = {
    openapi: createDocument(charge, json, async () => JSON.stringify(await api.openapi())),
    asyncapi: createDocument(charge, json, async () => JSON.stringify((await api.asyncapi()) ?? {})),
    docs: createDocument(charge, 'text/html; charset=utf-8', async () =>
      docsPage(await api.openapi(), await api.asyncapi()),
    ),
    script: createDocument(charge, 'text/javascript; charset=utf-8', scalarScript),
  };
  await app.listen({ host, port });
  const bound = app.server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`,
    port: bound.port,
    ...api,
    async close() {
      closing = true;
      sockets.shut();
      // Quotes in progress need the solver sockets.
      const inTime = new Promise<void>((resolve) => (idle = resolve));
      const giveUp = clock.after(CLOSE_GRACE_MS, idle);
      if (inProgress > 0) await inTime;
      giveUp();
      sockets.close();
      const cancel = clock.after(CLOSE_GRACE_MS / 2, () => app.server.closeAllConnections());
      await app.close();
      cancel();
    },
  };
}

function register<Key extends ApiCaller>(
  app: FastifyInstance,
  route: Route<unknown, unknown, unknown, Key>,
  {
    gate,
    clock,
    log,
    bodyLimitBytes,
    downloadTimeoutMs,
    unread,
  }: {
    gate: AccessGate<Key>;
    clock: Clock;
    log: Log;
    bodyLimitBytes: number;
    downloadTimeoutMs: number;
    unread: Unread;
  },
): void {
  const schema = {
    ...(route.body && { body: route.body }),
    querystring: route.query ?? zNothing,
    ...(route.params && { params: route.params }),
    response: { 200: route.response },
  } as unknown as FastifySchema;

  async function onRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const state: RequestState = { startedMs: clock.monotonicMs(), handling: false, closed: false };
    request.state = state;
    onEnd(request.raw.socket, reply.raw, () => {
      state.closed = true;
      if (!state.handling) state.release?.();
    });
    // Before the key is read. Fastify counts what arrives too: a chunked body names no length.
    const length = Number(request.headers['content-length'] ?? 0);
    if (length > bodyLimitBytes) throw tooLarge(bodyLimitBytes);
    const caller = await inRequest(idsOf(request), () =>
      gate.authenticate(header(request, 'x-api-key'), route),
    );
    state.caller = caller;
    reply.headers(caller.headers);
    const wrong = mediaError(request, route, length);
    if (wrong) throw wrong;
    const release = await gate.takeSlot(route.load ?? route.rate, caller.key.id);
    state.release = release;
    if (state.closed) release();
  }

  app.route({
    method: route.method,
    url: route.path,
    schema,
    config: { route } as never,
    onRequest,
    handler: async (request, reply) => {
      const state = request.state as RequestState;
      const { key } = state.caller as Authenticated<Key>;
      state.handling = true;
      const { socket } = request.raw;
      let answer: string | object;
      try {
        answer = await inRequest(idsOf(request), () =>
          route.handle({
            key,
            body: request.body,
            query: request.query,
            params: request.params,
            id: request.id,
            header: (name) => header(request, name),
          }),
        );
      } finally {
        state.handling = false;
        if (state.closed) state.release?.();
      }
      if (typeof answer === 'object' && 'chunks' in answer) {
        onEnd(
          socket,
          reply.raw,
          clock.after(downloadTimeoutMs, () => socket.destroy()),
        );
        return download(reply, answer as Download, socket);
      }
      // The work is done, however slowly the client takes the answer.
      state.release?.();
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
      unread.sending(socket, reply.raw, text.length);
      return reply.type('application/json; charset=utf-8').send(text);
    },
    onResponse: (request, reply, done) => {
      if (reply.statusCode >= 500) gate.failed(route);
      log.debug(
        {
          ...idsOf(request),
          method: route.method,
          path: route.path,
          status: reply.statusCode,
          ms: request.state ? Math.round((clock.monotonicMs() - request.state.startedMs) * 10) / 10 : null,
        },
        'request',
      );
      done();
    },
  });
}

function download(
  reply: FastifyReply,
  { contentType, filename, chunks }: Download,
  socket: Socket,
): FastifyReply {
  const body = Readable.from(chunks, { objectMode: false });
  onEnd(socket, reply.raw, () => body.destroy());
  reply.type(contentType).header('Content-Disposition', `attachment; filename="${filename}"`);
  return reply.send(body);
}

/**
 * Checks the media type before a slot is taken. It is stricter than Fastify's own check, which cannot be
 * turned off.
 */
function mediaError(
  request: FastifyRequest,
  { method, body }: Pick<Route, 'method' | 'body'>,
  length: number,
): Error | undefined {
  const {
    'content-encoding': encoding,
    'content-type': type,
    'transfer-encoding': transfer,
  } = request.headers;
  if (encoding !== undefined && encoding !== 'identity')
    return new ApiError(
      'unsupported_media_type',
      'Content-Encoding is not supported; send the body uncompressed.',
    );
  if (!body)
    return length > 0 || transfer !== undefined
      ? new ApiError('unsupported_media_type', `This ${method} has no body.`)
      : undefined;
  const json = /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i.test(type ?? '');
  return json ? undefined : notJson();
}

/** Closes the connection, because the client could keep it and be refused again. */
function refusal(reply: FastifyReply): ApiError {
  reply.header('Connection', 'close');
  return new ApiError(
    'unavailable',
    'The venue is restarting and takes no new requests. Try again in a few seconds.',
    { retryAfterSeconds: 1 },
  );
}

const notJson = () =>
  new ApiError('unsupported_media_type', 'Send JSON with Content-Type: application/json.');
const unknownPath = () =>
  new ApiError('not_found', 'This path does not exist. GET /openapi.json lists all paths.');
const tooLarge = (limitBytes: number) => new ApiError('body_too_large', bodyTooLarge(limitBytes));

function translated(error: FastifyError, bodyLimitBytes: number): unknown {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLarge(bodyLimitBytes);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return notJson();
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ApiError('bad_request', 'The body is shorter or longer than Content-Length says.');
    case 'ECONNRESET':
      return new ApiError('bad_request', 'The body is incomplete.');
    case 'FST_ERR_REOPENED_CLOSE_SERVER':
      return new ApiError('unavailable', 'The venue is stopping.', { retryAfterSeconds: 2 });
    default:
      return error;
  }
}

const idsOf = (request: FastifyRequest) => requestIds(request.id, request.headers);

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

const patterns = new Map<string, RegExp>();

function pattern(path: string): RegExp {
  let found = patterns.get(path);
  if (!found) patterns.set(path, (found = new RegExp(`^${path.replace(/:[a-zA-Z]+/g, '[^/]+')}$`)));
  return found;
}
