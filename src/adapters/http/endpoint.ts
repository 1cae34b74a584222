/** Serves one route: admits each request, holds its slot while the handler runs, and sends the answer. */

import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import type { Clock } from '../../ports/clock.ts';
import type { AccessGate, ApiCaller, Authenticated, Download, Release, Route } from '../../ports/http.ts';
import type { Log } from '../../ports/log.ts';
import { ApiError } from '../../protocol/errors.ts';
import { zNothing } from '../../protocol/schema.ts';
import { inRequest } from '../pino/request-context.ts';
import { onEnd, type Unread } from './connections.ts';
import { headerOf, idsOf, notJson, tooLarge } from './refusals.ts';

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

interface EndpointDeps<Key extends ApiCaller> {
  readonly gate: AccessGate<Key>;
  readonly clock: Clock;
  readonly log: Log;
  readonly bodyLimitBytes: number;
  /** Limits a whole download, ms. */
  readonly downloadTimeoutMs: number;
  readonly unread: Unread;
}

type KeyRoute<Key> = Route<unknown, unknown, unknown, Key>;

/** The application must have decorated its requests with `state`. */
export function serveRoute<Key extends ApiCaller>(
  app: FastifyInstance,
  route: KeyRoute<Key>,
  deps: EndpointDeps<Key>,
): void {
  app.route({
    method: route.method,
    url: route.path,
    schema: {
      ...(route.body && { body: route.body }),
      querystring: route.query ?? zNothing,
      ...(route.params && { params: route.params }),
      response: { 200: route.response },
    } as unknown as FastifySchema,
    config: { route } as never,
    onRequest: (request, reply) => admit(request, reply, route, deps),
    handler: (request, reply) => answer(request, reply, route, deps),
    onResponse(request, reply, done) {
      logged(request, reply, route, deps);
      done();
    },
  });
}

/** Checks size, key and media type before the body is read, and takes the slot. */
async function admit<Key extends ApiCaller>(
  request: FastifyRequest,
  reply: FastifyReply,
  route: KeyRoute<Key>,
  { gate, clock, bodyLimitBytes }: EndpointDeps<Key>,
): Promise<void> {
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
    gate.authenticate(headerOf(request, 'x-api-key'), route),
  );
  state.caller = caller;
  reply.headers(caller.headers);
  const wrong = mediaError(request, route, length);
  if (wrong) throw wrong;
  const release = await gate.takeSlot(route.load ?? route.rate, caller.key.id);
  state.release = release;
  if (state.closed) release();
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

async function answer<Key extends ApiCaller>(
  request: FastifyRequest,
  reply: FastifyReply,
  route: KeyRoute<Key>,
  { clock, downloadTimeoutMs, unread }: EndpointDeps<Key>,
): Promise<FastifyReply> {
  const state = request.state as RequestState;
  const { key } = state.caller as Authenticated<Key>;
  state.handling = true;
  const { socket } = request.raw;
  let given: string | object;
  try {
    given = await inRequest(idsOf(request), () =>
      route.handle({
        key,
        body: request.body,
        query: request.query,
        params: request.params,
        id: request.id,
        header: (name) => headerOf(request, name),
      }),
    );
  } finally {
    state.handling = false;
    if (state.closed) state.release?.();
  }
  if (typeof given === 'object' && 'chunks' in given) {
    onEnd(
      socket,
      reply.raw,
      clock.after(downloadTimeoutMs, () => socket.destroy()),
    );
    return download(reply, given as Download, socket);
  }
  // The work is done, however slowly the client takes the answer.
  state.release?.();
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  unread.sending(socket, reply.raw, text.length);
  return reply.type('application/json; charset=utf-8').send(text);
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

function logged<Key extends ApiCaller>(
  request: FastifyRequest,
  reply: FastifyReply,
  route: KeyRoute<Key>,
  { gate, clock, log }: EndpointDeps<Key>,
): void {
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
}
