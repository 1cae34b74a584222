/** The venue's HTTP server: limits, strict bodies, and the API's two error shapes. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchema,
} from 'fastify';
import type { Clock } from '../../ports/clock.ts';
import type { AccessGate, ApiCaller, Route, SocketRoute } from '../../ports/http.ts';
import type { Log } from '../../ports/log.ts';
import { ApiError, detailsOf, InvalidError } from '../../protocol/errors.ts';
import type { Schema } from '../../protocol/schema.ts';
import { readStrictJson } from '../../protocol/strict-json.ts';
import { CLOSE_TIMEOUT_MS, serveSockets, type SocketServer } from './sockets/socket-server.ts';
import { type ApiDocuments, createApiDocuments } from './api-documents.ts';
import { bareAddress, clientOf } from './client-address.ts';
import { createUnread, limitConnections, onEnd } from './connections.ts';
import { DOCS_POLICY, docsPage, scalarScript, SCRIPT_PATH } from './docs-page.ts';
import { createDocument } from './documents.ts';
import { refuseEarly } from './door.ts';
import { allowOrigins, edgeHeaders, requestIdOf } from './edge.ts';
import { serveRoute } from './endpoint.ts';
import { isLocalHost } from './local-host.ts';
import { VENUE_TITLE } from './openapi.ts';
import { CONSOLE_ROOT, type PagePolicy, servePages } from './pages.ts';
import {
  endUnreadable,
  answerError,
  headerOf,
  restarting,
  ShapeError,
  translated,
  unknownPath,
} from './refusals.ts';
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
/** Routes that the API's documents leave out. */
const HIDDEN = { schema: { hide: true } as FastifySchema };

const DEFAULTS = {
  host: '127.0.0.1',
  bodyLimitBytes: 256 * 1024,
  maxConnections: 10_000,
  maxSocketsPerAddress: 2_500,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  stalledMs: 60_000,
  downloadTimeoutMs: 600_000,
  trustProxy: [] as string[],
  origins: [] as readonly string[],
  title: VENUE_TITLE,
};

type HttpSettings = typeof DEFAULTS &
  Pick<HttpOptions, 'port' | 'hostNames' | 'pages'> & { maxConnectionsPerAddress: number };

interface HttpDeps<Key extends ApiCaller> {
  routes: readonly Route<unknown, unknown, unknown, Key>[];
  socketRoutes: readonly SocketRoute<Key>[];
  gate: AccessGate<Key>;
  clock: Clock;
  log: Log;
}

/** What the steps of one server share. */
interface ServerState<Key extends ApiCaller> extends HttpDeps<Key> {
  readonly settings: HttpSettings;
  readonly safeHeaders: Readonly<Record<string, string>>;
  /** True for the address of a proxy whose X-Forwarded-For is trusted. */
  isProxy(address: string, hop: number): boolean;
  clientAddress(request: IncomingMessage): string;
  closing: boolean;
  inProgress: number;
  /** Called when the last request in progress has ended. */
  idle: () => void;
}

export async function startHttp<Key extends ApiCaller>(
  deps: HttpDeps<Key>,
  options: HttpOptions,
): Promise<HttpServer> {
  const settings = settingsOf(options);
  const state = await newState(deps, settings);
  const app = openApp(state);
  refuseEarly(app.server, state);
  readBodies(app);
  answerErrors(app, state);
  // After the error handler, which the plugin's own route must have too.
  await allowOrigins(app, settings.origins, [...new Set(deps.routes.map(({ method }) => method))]);
  app.addHook('onRequest', (request, reply, done) => done(refusedAtDoor(state, request, reply)));
  countRequests(app.server, state);
  // Node would answer 417 without asking us; an expectation may be ignored.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  const { gate, clock, log } = deps;
  const unread = createUnread(MAX_UNREAD_BYTES, () => gate.turnedAway('unread'));
  const { bodyLimitBytes, downloadTimeoutMs } = settings;
  for (const route of deps.routes)
    serveRoute(app, route, { gate, clock, log, bodyLimitBytes, downloadTimeoutMs, unread });
  const api = serveDocuments(app, state);
  if (settings.pages) await serveConsole(app, settings.pages);
  const sockets = serveSockets(app.server, {
    socketRoutes: deps.socketRoutes,
    gate,
    log,
    addressOf: state.clientAddress,
    maxPerAddress: settings.maxSocketsPerAddress,
    origins: settings.origins,
    ownPages: settings.pages !== undefined,
  });
  await app.ready();
  const { host, port } = settings;
  await app.listen({ host, port });
  const bound = app.server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`,
    port: bound.port,
    ...api,
    close: () => close(app, sockets, state),
  };
}

const settingsOf = (options: HttpOptions): HttpSettings => ({
  ...DEFAULTS,
  maxConnectionsPerAddress: (options.maxSocketsPerAddress ?? DEFAULTS.maxSocketsPerAddress) + 500,
  ...options,
});

async function newState<Key extends ApiCaller>(
  deps: HttpDeps<Key>,
  settings: HttpSettings,
): Promise<ServerState<Key>> {
  const safeHeaders = await securityHeaders();
  const isListedProxy = proxyAddress.compile(settings.trustProxy);
  const isProxy = (address: string, hop: number) => isListedProxy(bareAddress(address), hop);
  return {
    ...deps,
    settings,
    safeHeaders,
    isProxy,
    clientAddress: (request) => clientOf(proxyAddress(request, isProxy)),
    closing: false,
    inProgress: 0,
    idle: () => {},
  };
}

/** Opens the application with its limits. Every answer gets the headers of the edge. */
function openApp<Key extends ApiCaller>(state: ServerState<Key>): FastifyInstance {
  const { settings, gate, log, isProxy } = state;
  const stamped = (request: FastifyRequest, reply: FastifyReply) =>
    reply.headers({ ...state.safeHeaders, ...edgeHeaders(request.id) });
  const app = Fastify({
    logger: false,
    bodyLimit: settings.bodyLimitBytes,
    requestTimeout: settings.requestTimeoutMs,
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
      headersTimeout: settings.headersTimeoutMs,
      maxHeaderSize: 16 * 1024,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: true,
    },
    // The router answers these itself, before any hook.
    frameworkErrors: (_error, request, reply: FastifyReply) =>
      void answerError(stamped(request, reply), refusedAtDoor(state, request, reply) ?? unknownPath(), log),
    clientErrorHandler(error, socket) {
      if (!socket.writable) return;
      // The peer may keep its half open, and send.
      setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS).unref();
      const address = (socket as Socket).remoteAddress ?? '';
      // A proxy's address names no client.
      if (!isProxy(address, 0) && overLimit(gate, clientOf(address))) socket.destroy();
      else endUnreadable(socket, error);
    },
  });
  app.server.maxHeadersCount = 100;
  app.server.maxConnections = settings.maxConnections;
  app.server.timeout = settings.stalledMs;
  limitConnections(app.server, {
    perAddress: settings.maxConnectionsPerAddress,
    isExempt: (address) => isProxy(address, 0),
    refused: () => gate.turnedAway('connections'),
  });
  app.decorateRequest('state', null);
  app.addHook('onRequest', (request, reply, done) => {
    stamped(request, reply);
    done();
  });
  return app;
}

function readBodies(app: FastifyInstance): void {
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
}

function answerErrors<Key extends ApiCaller>(
  app: FastifyInstance,
  { routes, settings, log }: ServerState<Key>,
): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const route = (request.routeOptions.config as { route?: Route }).route;
    if (error instanceof ShapeError && route?.explain)
      return answerError(reply, new InvalidError(route.explain([...error.details], request.body)), log);
    return answerError(reply, translated(error, settings.bodyLimitBytes), log);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    const methods = routes.filter((route) => pattern(route.path).test(path)).map(({ method }) => method);
    if (methods.length === 0 || methods.includes(request.method as Route['method']))
      return answerError(reply, unknownPath(), log);
    return answerError(
      reply.header('Allow', methods.join(', ')),
      new ApiError('method_not_allowed', `This path takes ${methods.join(' or ')}.`),
      log,
    );
  });
}

const patterns = new Map<string, RegExp>();

function pattern(path: string): RegExp {
  let found = patterns.get(path);
  if (!found) patterns.set(path, (found = new RegExp(`^${path.replace(/:[a-zA-Z]+/g, '[^/]+')}$`)));
  return found;
}

function refusedAtDoor<Key extends ApiCaller>(
  { closing, gate, clientAddress, settings: { hostNames } }: ServerState<Key>,
  request: FastifyRequest,
  reply: FastifyReply,
): Error | undefined {
  if (closing) return restarting(reply);
  const over = overLimit(gate, clientAddress(request.raw), headerOf(request, 'x-api-key'));
  if (over || hostNames === undefined || isLocalHost(request.headers.host, hostNames)) return over;
  return new ApiError(
    'not_found',
    'This port does not answer for that Host. Add its name to admin.hostNames.',
  );
}

function overLimit<Key>(gate: AccessGate<Key>, address: string, key?: string): Error | undefined {
  try {
    gate.limitByAddress(address, { key });
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

function countRequests(server: Server, state: Pick<ServerState<ApiCaller>, 'inProgress' | 'idle'>): void {
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    state.inProgress += 1;
    onEnd(socket, response, () => {
      state.inProgress -= 1;
      if (state.inProgress === 0) state.idle();
    });
  });
}

/** Serves the API's documents and the page that shows them. */
function serveDocuments<Key extends ApiCaller>(
  app: FastifyInstance,
  { routes, socketRoutes, gate, clientAddress, settings }: ServerState<Key>,
): ApiDocuments {
  const hasSockets = socketRoutes.length > 0;
  const api = createApiDocuments({
    title: settings.title,
    routes: routes as unknown as readonly Route[],
    hasSockets,
    bodyLimitBytes: settings.bodyLimitBytes,
  });
  const json = 'application/json; charset=utf-8';
  const charge = (request: FastifyRequest, cost: number) =>
    gate.limitByAddress(clientAddress(request.raw), { cost });
  const docs = createDocument(charge, 'text/html; charset=utf-8', async () =>
    docsPage(await api.openapi(), await api.asyncapi()),
  );
  const openapi = createDocument(charge, json, async () => JSON.stringify(await api.openapi()));
  const asyncapi = createDocument(charge, json, async () => JSON.stringify((await api.asyncapi()) ?? {}));
  const script = createDocument(charge, 'text/javascript; charset=utf-8', scalarScript);
  app.get('/openapi.json', HIDDEN, openapi);
  if (hasSockets) app.get('/asyncapi.json', HIDDEN, asyncapi);
  app.get('/docs', HIDDEN, (request, reply) =>
    docs(request, reply.header('Content-Security-Policy', DOCS_POLICY)),
  );
  app.get(SCRIPT_PATH, HIDDEN, script);
  return api;
}

async function serveConsole(app: FastifyInstance, pages: ConsolePages): Promise<void> {
  app.get(`${CONSOLE_ROOT}/setup.json`, HIDDEN, async () => pages.setup);
  await servePages(app, pages);
}

async function close<Key extends ApiCaller>(
  app: FastifyInstance,
  sockets: SocketServer,
  state: ServerState<Key>,
): Promise<void> {
  const { clock } = state;
  state.closing = true;
  sockets.shut();
  // Quotes in progress need the solver sockets.
  const inTime = new Promise<void>((resolve) => (state.idle = resolve));
  const giveUp = clock.after(CLOSE_GRACE_MS, state.idle);
  if (state.inProgress > 0) await inTime;
  giveUp();
  sockets.close();
  const cancel = clock.after(CLOSE_GRACE_MS / 2, () => app.server.closeAllConnections());
  await app.close();
  cancel();
}
