/** Public documents: compressed once, cached by clients, charged to the address by their size. */

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A document costs its address as many requests as it has pieces of this size. */
const BYTES_PER_REQUEST = 4 * 1024;

/** `charge` counts so many requests for the client, and throws where it has used up its limit. */
export async function createDocument(
  charge: (request: FastifyRequest, requests: number) => void,
  type: string,
  text: string,
) {
  const [br, gz] = await Promise.all([promisify(brotliCompress)(text), promisify(gzip)(text)]);
  const etag = `W/"${createHash('sha256').update(text).digest('base64url')}"`;
  const plain = Buffer.from(text);
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    reply.headers({ ETag: etag, 'Cache-Control': 'public, max-age=300', Vary: 'Accept-Encoding' });
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
