/** The answers of a server to requests that no handler answers: refused at the door, malformed, or failed. */

import type { Duplex } from 'node:stream';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../ports/log.ts';
import { answerFor, ApiError, InvalidError } from '../../protocol/errors.ts';
import type { RequestIds } from '../pino/request-context.ts';
import { edgeHeaders, headerLines, requestIdOf, requestIds } from './edge.ts';
import { bodyTooLarge } from './openapi.ts';

/** A schema violation. Errors of handlers are final, but a route may rewrite this one. */
export class ShapeError extends InvalidError {}

export function answerError(reply: FastifyReply, error: unknown, log: Log): FastifyReply {
  const answer = answerFor(error);
  if (answer.ours)
    log.error({ ...idsOf(reply.request), error }, 'a request failed because of an internal error');
  reply.headers(answer.headers);
  // The client may still be sending the oversized body.
  if (answer.status === 413) reply.header('Connection', 'close');
  return reply.code(answer.status).type('application/json').send(JSON.stringify(answer.body));
}

/** Answers bytes that Node could not read as a request, and ends the connection. */
export function endUnreadable(socket: Duplex, { code }: NodeJS.ErrnoException): void {
  const overflow = code === 'HPE_HEADER_OVERFLOW';
  const late = code === 'ERR_HTTP_REQUEST_TIMEOUT';
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
}

/** Closes the connection, because the client could keep it and be refused again. */
export function restarting(reply: FastifyReply): ApiError {
  reply.header('Connection', 'close');
  return new ApiError(
    'unavailable',
    'The venue is restarting and takes no new requests. Try again in a few seconds.',
    { retryAfterSeconds: 1 },
  );
}

export const notJson = () =>
  new ApiError('unsupported_media_type', 'Send JSON with Content-Type: application/json.');
export const unknownPath = () =>
  new ApiError('not_found', 'This path does not exist. GET /openapi.json lists all paths.');
export const tooLarge = (limitBytes: number) => new ApiError('body_too_large', bodyTooLarge(limitBytes));

/** Gives Fastify's own errors the codes and words of the API. */
export function translated(error: FastifyError, bodyLimitBytes: number): unknown {
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

export const idsOf = (request: FastifyRequest): RequestIds => requestIds(request.id, request.headers);

export function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
