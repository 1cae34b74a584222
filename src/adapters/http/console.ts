/**
 * Pages for people beside an admin API: static files, a login with the API's token, and the same routes
 * behind a session. The admin API itself refuses web pages; here a page is let in, so a session cookie that
 * no other site can send, a header that no form can send, and a check of the origin stand before each act.
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import cookie from '@fastify/cookie';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { BaseError, UpstreamError } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { isLocalHost } from './local-host.ts';
import { type OpsRoute, type OpsServer, refuseQuery } from './ops.ts';
import { CONSOLE_ROOT, plainHeaders, servePages } from './pages.ts';

/** A viewer reads; an operator acts too. */
type ConsoleRole = 'viewer' | 'operator';

interface ConsoleOptions {
  /** 0 chooses a free port. */
  port: number;
  host: string;
  /** The built pages: `index.html` and `assets/`. */
  folder: string;
  routes: readonly OpsRoute[];
  /** The token of each role; a role without one cannot log in. */
  tokens: Partial<Record<ConsoleRole, string>>;
  clock: Clock;
  log: Log;
}

const COOKIE = 'firmquote_console';
/** A form of another site cannot send it, and a script of another site is refused by its preflight. */
const HEADER = 'x-firmquote-console';
const SESSION_MS = 12 * 3_600_000;
const MOST_SESSIONS = 200;
/**
 * Wrong tokens in a minute, from anywhere, before every login waits: guessing is hopeless and visible. The
 * times are kept, because a token bucket of this size would allow twice as many in its first minute.
 */
const MOST_FAILURES = 20;
const FAILURES_MS = 60_000;
const MAX_BODY_BYTES = 64 * 1024;

export async function startConsole(options: ConsoleOptions): Promise<OpsServer> {
  const { host, port, folder, routes, tokens, clock, log } = options;
  const sessions = new Map<string, { role: ConsoleRole; endsAtMs: number }>();
  const failures: number[] = [];

  const app = Fastify({ logger: false, bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true });
  await app.register(cookie);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => done(null, body));

  const sessionOf = (request: FastifyRequest) => {
    const id = request.cookies[COOKIE] ?? '';
    const session = sessions.get(id);
    if (session === undefined || session.endsAtMs > clock.nowMs()) return session;
    sessions.delete(id);
    return undefined;
  };
  const refuse = (reply: FastifyReply, status: number, code: string, message: string) =>
    reply.code(status).send({ error: { code, message } });

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(plainHeaders);
    const { host: asked, origin } = request.headers;
    // A foreign DNS name that points here would make its owner's page one of ours.
    if (isLoopback(host) && !isLocalHost(asked))
      return refuse(reply, 403, 'forbidden', 'Open the console at localhost or 127.0.0.1.');
    const acts = request.method !== 'GET' && request.method !== 'HEAD';
    if (!acts) return undefined;
    const own = origin === undefined || (URL.canParse(origin) && new URL(origin).host === asked);
    if (!own || request.headers[HEADER] === undefined)
      return refuse(reply, 403, 'forbidden', 'Only the pages of this console may send this.');
    return undefined;
  });

  app.setErrorHandler((error, request, reply) => {
    if (error instanceof BaseError && error.retry === 'never' && error.code !== 'invariant')
      return refuse(reply, 400, error.code, error.message);
    log.error({ err: error, path: request.url }, 'the console could not answer a request');
    return refuse(reply, 503, 'unavailable', 'The answer could not be made; the log says why.');
  });

  app.get(`${CONSOLE_ROOT}/session`, async (request) => ({ role: sessionOf(request)?.role ?? null }));
  app.post(`${CONSOLE_ROOT}/session`, async (request, reply) => {
    const nowMs = clock.nowMs();
    while (failures[0] !== undefined && failures[0] <= nowMs - FAILURES_MS) failures.shift();
    if (failures.length >= MOST_FAILURES)
      return refuse(reply, 429, 'rate_limited', 'Too many wrong tokens. Wait a minute.');
    const role = roleOf(tokens, String(request.body ?? '').trim());
    if (role === undefined) {
      failures.push(nowMs);
      log.warn({ address: request.ip }, 'console: a login with a wrong token was refused');
      return refuse(reply, 401, 'unauthorized', 'This is not the token of the console.');
    }
    const id = randomBytes(32).toString('base64url');
    sessions.set(id, { role, endsAtMs: nowMs + SESSION_MS });
    const [oldest] = sessions.keys();
    if (sessions.size > MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest);
    log.info({ address: request.ip, role }, 'console: somebody logged in');
    return reply
      .setCookie(COOKIE, id, {
        path: CONSOLE_ROOT,
        httpOnly: true,
        sameSite: 'strict',
        maxAge: SESSION_MS / 1_000,
      })
      .send({ role });
  });
  app.delete(`${CONSOLE_ROOT}/session`, async (request, reply) => {
    sessions.delete(request.cookies[COOKIE] ?? '');
    return reply.clearCookie(COOKIE, { path: CONSOLE_ROOT }).send({ role: null });
  });

  for (const { method, path, query: known, handle } of routes)
    app.route({
      method,
      url: `${CONSOLE_ROOT}/api${path}`,
      async handler(request, reply) {
        const session = sessionOf(request);
        if (session === undefined) return refuse(reply, 401, 'unauthorized', 'Log in again.');
        if (method !== 'GET' && session.role !== 'operator')
          return refuse(
            reply,
            403,
            'forbidden',
            'A viewer changes nothing. Log in with the token of an operator.',
          );
        const query = new URL(request.url, 'http://console').searchParams;
        const misread = refuseQuery({ method, path, ...(known !== undefined && { query: known }) }, query);
        const { status, body, contentType } =
          misread ??
          (await handle({
            query,
            body: typeof request.body === 'string' ? request.body : '',
            id: (request.params as { id?: string }).id ?? '',
            address: request.ip,
          }));
        if (contentType !== undefined) return reply.code(status).type(contentType).send(body);
        return reply
          .code(status)
          .header('cache-control', 'no-store')
          .type('application/json')
          .send(JSON.stringify(body, bigintAsText));
      },
    });

  app.get('/', async (_, reply) => reply.redirect(`${CONSOLE_ROOT}/`));
  await servePages(app, { folder, page: 'index.html' });

  await app.listen({ host, port }).catch((cause: NodeJS.ErrnoException) => {
    throw new UpstreamError(
      `The console's port ${port} on ${host} cannot be opened (${cause.code ?? 'unknown error'}). Choose another port or stop the process that uses it.`,
      { code: 'port_unavailable', cause },
    );
  });
  const address = app.server.address() as AddressInfo;
  return {
    port: address.port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}${CONSOLE_ROOT}/`,
    close: () => app.close(),
  };
}

const isLoopback = (host: string): boolean => host === '127.0.0.1' || host === '::1' || host === 'localhost';

const bigintAsText = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;

function roleOf(tokens: Partial<Record<ConsoleRole, string>>, given: string): ConsoleRole | undefined {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return (['operator', 'viewer'] as const).find((role) => {
    const token = tokens[role];
    return token !== undefined && timingSafeEqual(digest(given), digest(token));
  });
}
