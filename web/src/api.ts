/** Calls of the LP's admin API through the console's session. Types come from the server's own. */

import type { PricingPage } from '../../src/apps/lp/pricing/routes.ts';
import type { PlanView } from '../../src/apps/lp/transfers/plans.ts';
import type { TransferHistory } from '../../src/apps/lp/transfers/view.ts';
import type { ReloadPreview } from '../../src/apps/lp/reload.ts';
import type { AuditEntry } from '../../src/ports/stores/audit-log.ts';
import type { LpNode, LpStatus } from '../../src/lp/node/interface.ts';
import type { Accounts } from '../../src/lp/accounting/accounts.ts';

/** The type as JSON carries it: amounts beyond what a number holds are decimal texts. */
export type Json<T> = T extends bigint
  ? string
  : T extends readonly (infer Item)[]
    ? Json<Item>[]
    : T extends object
      ? { [Key in keyof T]: Json<T[Key]> }
      : T;

export type Role = 'viewer' | 'operator';

export interface Answers {
  '/status': Json<LpStatus> & {
    sending: 'held' | 'free';
    pause: { note: string; by: string; atMs: number } | null;
  };
  '/inventory': {
    buckets: Json<ReturnType<LpNode['inventory']>>;
    positions: Json<ReturnType<LpNode['positions']>>;
    receivables: Json<ReturnType<LpNode['receivables']>>;
    rebalancing: Json<ReturnType<LpNode['rebalancing']>>;
  };
  '/limits': Json<ReturnType<LpNode['limits']>>;
  '/risk': Json<ReturnType<LpNode['risk']>>;
  '/rfqs': Json<ReturnType<LpNode['recorded']>>;
  '/awards': { awards: Json<Awaited<ReturnType<LpNode['awards']>>> };
  '/pricing': Json<PricingPage>;
  '/audit': { entries: AuditEntry[] };
  '/pnl': Json<Awaited<ReturnType<Accounts['profit']>>>;
  '/transfers': Json<TransferHistory>;
  '/transfers/plan': { plans: PlanView[] };
  '/explain': { explanations: Json<Awaited<ReturnType<Accounts['explain']>>> };
}

export type PricingPreview = Json<ReloadPreview>;

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

export const read = <Path extends keyof Answers>(path: Path, rest = ''): Promise<Answers[Path]> =>
  call('GET', `/api${path}${rest}`);

export const act = (path: string, command: Readonly<Record<string, string>> = {}) =>
  call('POST', `/api${path}`, JSON.stringify({ by: 'console', ...command }));

export const change = (path: '/pricing/preview' | '/pricing/apply', wanted: object) =>
  call<PricingPreview>('POST', `/api${path}`, JSON.stringify({ by: 'console', ...wanted }));

export const session = () => call<{ role: Role | null }>('GET', '/session');
export const logIn = (token: string) => call<{ role: Role }>('POST', '/session', token);
export const logOut = () => call<{ role: null }>('DELETE', '/session');
