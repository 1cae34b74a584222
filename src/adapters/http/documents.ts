/** Public documents: made and compressed once, cached by clients, charged to the address by their size. */

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A document costs its address as many requests as it has pieces of this size. */
const BYTES_PER_REQUEST = 4 * 1024;
/** Beyond this size the best compression takes seconds, and a good one a fifth of a second. */
const LARGE_BYTES = 1024 * 1024;

interface Document {
  etag: string;
  plain: Buffer;
  br: Buffer;
  gz: Buffer;
}

async function compressed(text: string): Promise<Document> {
  const plain = Buffer.from(text);
  const quality = plain.length > LARGE_BYTES ? 5 : constants.BROTLI_MAX_QUALITY;
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
    promisify(gzip)(plain),
  ]);
  return { etag: `W/"${createHash('sha256').update(plain).digest('base64url')}"`, plain, br, gz };
}

/**
 * `make` runs at the first request. `charge` counts so many requests for the client, and throws where it has
 * used up its limit.
 */
export function createDocument(
  charge: (request: FastifyRequest, requests: number) => void,
  type: string,
  make: () => string | Promise<string>,
) {
  let made: Promise<Document> | undefined;
  const document = (): Promise<Document> =>
    (made ??= Promise.resolve(make())
      .then(compressed)
      .catch((error: unknown) => {
        made = undefined;
        throw error;
      }));

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { etag, plain, br, gz } = await document();
    reply.headers({ ETag: etag, 'Cache-Control': 'public, max-age=300' });
    const vary = reply.getHeader('Vary');
    reply.header('Vary', vary === undefined ? 'Accept-Encoding' : `${String(vary)}, Accept-Encoding`);
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
    const accepted = String(request.headers['accept-encoding'] ?? '');
    const encoding = /\b(?:br|gzip)\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.exec(accepted)?.[0];
    const body = encoding === 'br' ? br : encoding === 'gzip' ? gz : plain;
    // The door has charged one request.
    charge(request, Math.ceil(body.length / BYTES_PER_REQUEST) - 1);
    if (encoding !== undefined) reply.header('Content-Encoding', encoding);
    return reply.type(type).send(body);
  };
}
