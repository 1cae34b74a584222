/**
 * Makes one HTTP call to a venue: JSON in, a checked shape or a typed error out. With several replicas, a
 * call that one of them does not answer is repeated at the next.
 */

import type * as z from 'zod';
import { zDetailBody, zErrorBody } from '../protocol/errors.ts';
import { RequestError } from '../domain/errors.ts';
import { DistrustError, UnreachableError, VenueError } from './errors.ts';

export interface TransportOptions {
  /**
   * The venue's URL, such as "https://venue.example", or the replicas of one venue in order of preference:
   * each gets the key. In a browser: your own proxy that adds the key.
   */
  url: string | readonly string[];
  /** `X-API-Key`. Omit it only where a proxy adds it. */
  key?: string;
  /** The timeout of each attempt; default 15,000. */
  timeoutMs?: number;
  fetch?: typeof globalThis.fetch;
}

interface VenueCall {
  method?: 'GET' | 'POST';
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** The statuses of a replica that restarts, or of a proxy without one. */
const RESTARTING: ReadonlySet<number> = new Set([502, 503, 504]);
/** How often each replica is tried: while they restart in turn, the first is back before the last is gone. */
const ROUNDS = 2;
const BETWEEN_ROUNDS_MS = 250;

/** Calls throw `VenueError`, `UnreachableError`, or `DistrustError` for a malformed answer. */
export interface Transport {
  /** The URL of the replica that is asked first. */
  base(): string;
  /** Makes calls begin at the next replica from now on. */
  leave(failed: string): void;
  key: string | undefined;
  /** `isElsewhere`: another replica may have a better answer. */
  call<T>(
    schema: z.ZodType<T>,
    path: string,
    call?: VenueCall,
    isElsewhere?: (answer: T) => boolean,
  ): Promise<T>;
  /** A stream that has begun is not repeated. */
  stream(path: string, call?: VenueCall): AsyncGenerator<string, void>;
}

export function createTransport({
  url,
  key,
  timeoutMs = 15_000,
  fetch = globalThis.fetch.bind(globalThis),
}: TransportOptions): Transport {
  const bases = [url].flat().map((each) => each.replace(/\/+$/, ''));
  if (bases.length === 0)
    throw new RequestError('The client has no URL of a venue: give one, or several.', { code: 'bad_config' });
  const attempts = bases.length === 1 ? 1 : ROUNDS * bases.length;
  let current = 0;
  const base = (): string => bases[current] as string;
  const leave = (failed: string): void => {
    if (base() === failed) current = (current + 1) % bases.length;
  };

  /**
   * Asks any replica: every call of this client may be repeated, because submissions carry an idempotency
   * key.
   */
  async function atAny<T>(
    { signal }: VenueCall,
    ask: (base: string) => Promise<T>,
    isElsewhere: (answer: T) => boolean = () => false,
  ): Promise<T> {
    // Other calls may leave a replica meanwhile, and this one still asks each of them once a round.
    const first = current;
    for (let attempt = 1; ; attempt++) {
      const at = bases[(first + attempt - 1) % bases.length] as string;
      try {
        const answer = await ask(at);
        if (attempt >= bases.length || !isElsewhere(answer)) return answer;
      } catch (error) {
        const passing =
          error instanceof UnreachableError || (error instanceof VenueError && RESTARTING.has(error.status));
        if (attempt === attempts || !passing) throw error;
      }
      leave(at);
      if (attempt % bases.length === 0) await new Promise((done) => setTimeout(done, BETWEEN_ROUNDS_MS));
      signal?.throwIfAborted();
    }
  }

  async function send(
    base: string,
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

  async function answerOf(response: Response): Promise<unknown> {
    const json = parsed(await textOf(response));
    if (!response.ok) throw refusalOf(response, json);
    return json;
  }

  return {
    base,
    leave,
    key,
    async call<T>(
      schema: z.ZodType<T>,
      path: string,
      call: VenueCall = {},
      isElsewhere?: (answer: T) => boolean,
    ): Promise<T> {
      return atAny(
        call,
        async (at) => {
          const read = schema.safeParse(await answerOf(await send(at, path, call, timeoutMs)));
          if (read.success) return read.data;
          const issue = read.error.issues[0];
          throw new DistrustError(
            'malformed_answer',
            `The venue's answer to ${path} is not what the API promises: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim(),
            { path },
          );
        },
        isElsewhere,
      );
    },
    async *stream(path, call = {}) {
      const response = await atAny(call, async (at) => {
        const begun = await send(at, path, call, null);
        if (!begun.ok) await answerOf(begun);
        return begun;
      });
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
