/**
 * HTTP requests to key services that have no client library here. Not by `outbound`: they may need a client
 * certificate, and the signer that asks ends a request, and repeats it by the kind of its failure.
 */

import { Agent, type buildConnector } from 'undici';
import { type KeyFailure, KeyServiceFailure } from './key-service.ts';

interface ServiceRequest {
  method: 'GET' | 'POST';
  url: string;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  signal: AbortSignal;
}

interface ServiceHttp {
  /** The body of an answer with status 200. Throws `KeyServiceFailure` for every other outcome. */
  request(request: ServiceRequest): Promise<string>;
  close(): Promise<void>;
}

/** A signature or a list of keys. */
const MOST_ANSWER_BYTES = 1 << 20;

/** `connect`: certificates, for TLS. */
export function createServiceHttp({
  connect = {},
}: { connect?: buildConnector.BuildOptions } = {}): ServiceHttp {
  const agent = new Agent({ connect, maxResponseSize: MOST_ANSWER_BYTES });
  return {
    async request({ method, url, headers, body, signal }) {
      let status: number;
      let text: string;
      try {
        const { origin, pathname, search } = new URL(url);
        const answer = await agent.request({
          origin,
          path: `${pathname}${search}`,
          method,
          headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          signal,
        });
        status = answer.statusCode;
        text = await answer.body.text();
      } catch (cause) {
        throw new KeyServiceFailure('unavailable', networkDetail(cause), { cause });
      }
      if (status !== 200)
        throw new KeyServiceFailure(failureOf(status), `status ${status} ${oneLine(text)}`.trim());
      return text;
    },
    close: () => agent.destroy(),
  };
}

/** Classifies a failure by its HTTP status. 400 to a request that never varies is about the key. */
export function failureOf(status: number): KeyFailure {
  if (status === 429) return 'throttled';
  if (status === 401 || status === 403) return 'denied';
  if (status === 400 || status === 404) return 'no_key';
  return status === 408 || status >= 500 ? 'unavailable' : 'malformed';
}

/** A code such as ECONNREFUSED or CERT_HAS_EXPIRED where there is one. */
export function networkDetail(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return typeof code === 'string' ? code : String(message ?? error);
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').slice(0, 200);
