/** Built pages under /console, which ask no other host for anything but what their server lists. */

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { UpstreamError } from '../../domain/errors.ts';

export const CONSOLE_ROOT = '/console';
/** Stands in the built page where each answer puts its own number. */
const NONCE = '__CSP_NONCE__';

/** The hash of the style that Radix's tables bring to hide the browser's own scroll bar. */
const TABLE_STYLE = "'sha256-vGQdhYJbTuF+M8iCn1IZCHpdkiICocWHDq4qnQF4Rjw='";

export interface PagePolicy {
  /** Origins that the page may ask beside its own. */
  connect?: readonly string[];
  /**
   * True when the page may compile WebAssembly: the client hashes with it. No text becomes a script either
   * way.
   */
  wasm?: boolean;
}

const policy = (nonce: string, { connect = [], wasm = false }: PagePolicy): string =>
  [
    "default-src 'none'",
    `script-src 'self'${wasm ? " 'wasm-unsafe-eval'" : ''}`,
    `style-src 'self' 'nonce-${nonce}' ${TABLE_STYLE}`,
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src ${["'self'", ...connect].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const headers = (nonce: string, allowed: PagePolicy): Record<string, string> => ({
  'content-security-policy': policy(nonce, allowed),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
});

/**
 * Serves the page at every address below /console/ that nothing else answers, and its assets. Throws
 * `UpstreamError` when the pages were not built.
 */
export async function servePages(
  app: FastifyInstance,
  { folder, page, ...allowed }: { folder: string; page: string } & PagePolicy,
): Promise<void> {
  const text = await readFile(join(folder, page), 'utf8').catch((cause: unknown) => {
    throw new UpstreamError(
      `The pages of the console are not in ${folder}. In a checkout, build them: npm run build.`,
      { code: 'console_missing', cause },
    );
  });
  const show = async (_: unknown, reply: FastifyReply) => {
    const nonce = randomBytes(16).toString('base64');
    return reply
      .headers({ ...headers(nonce, allowed), 'cache-control': 'no-store' })
      .type('text/html; charset=utf-8')
      .send(text.replaceAll(NONCE, nonce));
  };
  const hidden = { schema: { hide: true } as object };
  app.get(CONSOLE_ROOT, hidden, async (_, reply) => reply.redirect(`${CONSOLE_ROOT}/`));
  app.get<{ Params: { '*': string } }>(`${CONSOLE_ROOT}/assets/*`, hidden, (request, reply) =>
    sendAsset(reply, join(folder, 'assets'), request.params['*'], request.headers['accept-encoding']),
  );
  app.get(`${CONSOLE_ROOT}/*`, hidden, show);
}

/** Assets are stored compressed, and their names change with their content. */
async function sendAsset(
  reply: FastifyReply,
  folder: string,
  name: string,
  encodings = '',
): Promise<FastifyReply> {
  const type = TYPES[extname(name)];
  const isName = type !== undefined && /^[\w-]+\.\w+$/.test(name);
  const stored = isName ? await readFile(join(folder, `${name}.gz`)).catch(() => undefined) : undefined;
  if (stored === undefined) {
    reply.callNotFound();
    return reply;
  }
  reply.headers({ 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' });
  if (/\bgzip\b/.test(encodings))
    return reply
      .header('Content-Encoding', 'gzip')
      .type(type as string)
      .send(stored);
  return reply.type(type as string).send(await promisify(gunzip)(stored));
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** The headers of answers that are not pages. */
export const plainHeaders = headers(randomBytes(16).toString('base64'), {});
