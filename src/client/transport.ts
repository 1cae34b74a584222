/** One HTTP call to a venue: JSON in, a checked shape or a typed error out. */

import type { z } from 'zod';
import { zDetailBody, zErrorBody } from '../protocol/errors.ts';
import { DistrustError, UnreachableError, VenueError } from './errors.ts';

export interface TransportOptions {
  /** Such as "https://venue.example". In a browser: your own proxy that adds the key. */
  url: string;
  /** `X-API-Key`. Omit it only where a proxy adds it. */
  key?: string;
  /** Default 15,000. */
  timeoutMs?: number;
  fetch?: typeof globalThis.fetch;
}

export interface VenueCall {
  method?: 'GET' | 'POST';
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export type Transport = ReturnType<typeof createTransport>;

export function createTransport({
  url,
  key,
  timeoutMs = 15_000,
  fetch = globalThis.fetch.bind(globalThis),
}: TransportOptions) {
  const base = url.replace(/\/+$/, '');

  async function send(
    path: string,
    { method = 'GET', body, headers = {}, signal }: VenueCall,
    untilMs: number | null,
  ): Promise<Response> {
    const signals = [
      ...(untilMs === null ? [] : [AbortSignal.timeout(untilMs)]),
      ...(signal ? [signal] : []),
    ];
    try {
      return await fetch(`${base}${path}`, {
        method,
        headers: {
          accept: 'application/json',
          ...(key === undefined ? {} : { 'x-api-key': key }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signals.length === 0 ? {} : { signal: AbortSignal.any(signals) }),
        // A redirect would carry the API key to another host.
        redirect: 'error',
      });
    } catch (cause) {
      signal?.throwIfAborted();
      throw new UnreachableError('The venue', cause);
    }
  }

  return {
    url: base,
    key,
    /** Throws `VenueError`, `UnreachableError`, or `DistrustError` for a malformed answer. */
    async call<T>(schema: z.ZodType<T>, path: string, call: VenueCall = {}): Promise<T> {
      const response = await send(path, call, timeoutMs);
      const text = await textOf(response);
      const json = parsed(text);
      if (!response.ok) throw refusalOf(response, json);
      const read = schema.safeParse(json);
      if (read.success) return read.data;
      const issue = read.error.issues[0];
      throw new DistrustError(
        'malformed_answer',
        `The venue's answer to ${path} is not what the API promises: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim(),
        { path },
      );
    },
    async *stream(path: string, call: VenueCall = {}): AsyncGenerator<string, void> {
      const response = await send(path, call, null);
      if (!response.ok) throw refusalOf(response, parsed(await textOf(response)));
      const reader = response.body?.getReader();
      const decoder = new TextDecoder();
      try {
        for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
          yield decoder.decode(part.value, { stream: true });
      } finally {
        await reader?.cancel().catch(() => {});
      }
    },
  };
}

async function textOf(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    throw new UnreachableError('The venue', cause);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusalOf({ status, headers }: Response, json: unknown): VenueError {
  const after = Number(headers.get('retry-after') ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(after) ? after : null;
  const detail = zDetailBody.safeParse(json);
  const [first] = detail.data?.detail ?? [];
  if (first)
    return new VenueError({
      status,
      code: first.type,
      message: first.msg,
      details: detail.data?.detail ?? [],
      retryAfterSeconds,
    });
  const error = zErrorBody.safeParse(json).data?.error;
  return new VenueError({
    status,
    code: error?.code ?? 'unknown_error',
    message: error?.message ?? `The venue answered ${status}.`,
    retryAfterSeconds,
  });
}
