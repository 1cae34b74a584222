/** Calls of the LP's admin API through the console's session. Types come from the server's own. */

import type { AdminActions, AdminReads } from '../../src/apps/lp/admin/answers.ts';
import type { Json } from '../../src/protocol/json.ts';

export type Role = 'viewer' | 'operator';

export type Answers = { [Path in keyof AdminReads]: Json<AdminReads[Path]> };
export type PricingPreview = Json<AdminActions['/pricing/preview']>;

/** The server's words when it refused, or the news that it did not answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const BASE = '/console';
/** Longer than any answer takes; a page must not show old figures because a request hangs. */
const TIMEOUT_MS = 8_000;

async function call<T>(method: string, path: string, body?: string): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(`${BASE}${path}`, {
      method,
      headers: {
        'x-firmquote-console': '1',
        ...(body === undefined ? {} : { 'content-type': 'text/plain' }),
      },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    throw new ApiError(
      0,
      'unreachable',
      'The LP does not answer. It may be stopped, or the network is down.',
    );
  }
  const json = (await answer.json().catch(() => ({}))) as T & { error?: { code: string; message: string } };
  if (answer.ok) return json;
  throw new ApiError(
    answer.status,
    json.error?.code ?? 'unknown',
    json.error?.message ?? `The LP answered ${answer.status}.`,
  );
}

/** `rest` follows the path: a query with its "?", or what stands for `/:id`. */
export const read = <Path extends keyof Answers>(path: Path, rest = ''): Promise<Answers[Path]> =>
  call('GET', `/api${path.replace('/:id', '')}${rest}`);

export const act = (path: string, command: Readonly<Record<string, string>> = {}) =>
  call('POST', `/api${path}`, JSON.stringify({ by: 'console', ...command }));

export const change = (path: '/pricing/preview' | '/pricing/apply', wanted: object) =>
  call<PricingPreview>('POST', `/api${path}`, JSON.stringify({ by: 'console', ...wanted }));

export const session = () => call<{ role: Role | null }>('GET', '/session');
export const logIn = (token: string) => call<{ role: Role }>('POST', '/session', token);
export const logOut = () => call<{ role: null }>('DELETE', '/session');
