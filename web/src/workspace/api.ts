/** Calls of the venue's public API with the keys that were given to the page, which it keeps in memory only. */

import type * as z from 'zod';
import type { ConsoleSetup } from '../../../src/apps/venue/console.ts';
import type { KeyHolder, zWorkspaceKeys, zWorkspaceMembers } from '../../../src/protocol/admin/admin.ts';
import type { Firmness } from '../../../src/protocol/api/firmness.ts';
import type { Solver } from '../../../src/protocol/api/roster.ts';
import type { TradeDossier } from '../../../src/protocol/api/trades/dossier.ts';
import type { TradeItem } from '../../../src/protocol/api/trades/trades.ts';
import type { zTradesDailyResponse } from '../../../src/protocol/api/trades/bulk.ts';
import type { zDeliveries, zWebhooks } from '../../../src/protocol/api/webhooks.ts';
import { ApiError } from '../api.ts';

export interface Access {
  key: string;
  holder: KeyHolder;
}

/** A workspace key reads history and manages the workspace; a service key trades and reads the roster. */
export interface Session {
  workspace?: Access;
  service?: Access;
}

export interface TradesPage {
  items: TradeItem[];
  total: number;
  offset: number;
  limit: number;
}
export type Daily = z.infer<typeof zTradesDailyResponse>;

/** Longer than any answer takes; a page must not show old figures because a request hangs. */
const TIMEOUT_MS = 10_000;

async function send(key: string, method: string, path: string, body?: unknown): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // The key is the only credential: a cookie of another site on this host changes nothing.
      credentials: 'omit',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    throw new ApiError(
      0,
      'unreachable',
      'The venue does not answer. It may be restarting, or the network is down.',
    );
  }
  if (answer.ok) return answer;
  const refusal = (await answer.json().catch(() => ({}))) as {
    error?: { code: string; message: string };
    detail?: { loc: (string | number)[]; msg: string }[];
  };
  const [detail] = refusal.detail ?? [];
  throw new ApiError(
    answer.status,
    refusal.error?.code ?? 'invalid',
    refusal.error?.message ??
      (detail ? `${detail.loc.slice(1).join('.')}: ${detail.msg}` : `The venue answered ${answer.status}.`),
  );
}

export async function call<T>(key: string, method: string, path: string, body?: unknown): Promise<T> {
  return (await send(key, method, path, body)).json() as Promise<T>;
}

const queryOf = (fields: Readonly<Record<string, string | number | undefined>>): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && value !== '') query.append(name, String(value));
  return query.size === 0 ? '' : `?${query}`;
};

export const readHolder = (key: string) => call<KeyHolder>(key, 'GET', '/api/v1/key');
export const readSetup = (): Promise<ConsoleSetup> => call('', 'GET', '/console/setup.json');

const workspaceOf = ({ holder }: Access, rest: string) =>
  `/api/v1/workspaces/${encodeURIComponent(holder.workspace.id)}${rest}`;
const trades = (access: Access, rest: string) => workspaceOf(access, `/trades${rest}`);

export const readTrades = (access: Access, filter: Record<string, string>, offset: number, limit: number) =>
  call<TradesPage>(access.key, 'GET', trades(access, queryOf({ ...filter, offset, limit })));
export const readDaily = (access: Access, filter: Record<string, string>) =>
  call<Daily>(access.key, 'GET', trades(access, `/daily${queryOf(filter)}`));
export const readDossier = (access: Access, orderId: string) =>
  call<TradeDossier>(access.key, 'GET', trades(access, `/${encodeURIComponent(orderId)}`));
/** The same trades and order as the list, as CSV. */
export const exportTrades = async (access: Access, filter: Record<string, string>): Promise<Blob> =>
  (await send(access.key, 'GET', trades(access, `/export${queryOf(filter)}`))).blob();

export const readSolvers = ({ key }: Access) => call<{ solvers: Solver[] }>(key, 'GET', '/api/v1/solvers');
export const readFirmness = ({ key }: Access, id: string) =>
  call<Firmness>(key, 'GET', `/api/v1/solvers/${encodeURIComponent(id)}/firmness`);

const keys = (access: Access, id?: string) =>
  workspaceOf(access, id === undefined ? '/keys' : `/keys/${encodeURIComponent(id)}`);
export const readKeys = (access: Access) =>
  call<z.infer<typeof zWorkspaceKeys>>(access.key, 'GET', keys(access));
/** Issues a key and returns its text. */
export const issueKey = async (access: Access, wanted: object): Promise<string> =>
  (await call<{ text: string }>(access.key, 'POST', keys(access), wanted)).text;
export const revokeKey = (access: Access, id: string) => call(access.key, 'DELETE', keys(access, id));

const members = (access: Access, id?: string) =>
  workspaceOf(access, id === undefined ? '/members' : `/members/${encodeURIComponent(id)}`);
export const readMembers = (access: Access) =>
  call<z.infer<typeof zWorkspaceMembers>>(access.key, 'GET', members(access));
export const addMember = (access: Access, wanted: object) =>
  call(access.key, 'POST', members(access), wanted);
export const setMemberRole = (access: Access, id: string, role: string) =>
  call(access.key, 'PATCH', members(access, id), { role });
export const removeMember = (access: Access, id: string) => call(access.key, 'DELETE', members(access, id));

const webhooks = (access: Access, id?: string, rest = '') =>
  workspaceOf(access, id === undefined ? '/webhooks' : `/webhooks/${encodeURIComponent(id)}${rest}`);
export const readWebhooks = (access: Access) =>
  call<z.infer<typeof zWebhooks>>(access.key, 'GET', webhooks(access));
export const readDeliveries = (access: Access, id: string) =>
  call<z.infer<typeof zDeliveries>>(access.key, 'GET', webhooks(access, id, '/deliveries'));
/** Creates a webhook and returns its signing secret. */
export const createWebhook = async (access: Access, wanted: object): Promise<string> =>
  (await call<{ secret: string }>(access.key, 'POST', webhooks(access), wanted)).secret;
export const testWebhook = (access: Access, id: string) =>
  call(access.key, 'POST', webhooks(access, id, '/test'));
export const enableWebhook = (access: Access, id: string, enabled: boolean) =>
  call(access.key, 'PATCH', webhooks(access, id), { enabled });
export const removeWebhook = (access: Access, id: string) => call(access.key, 'DELETE', webhooks(access, id));

/** Sorts the keys by what they are for. Throws when one is refused or they do not belong together. */
export async function signIn(texts: readonly string[]): Promise<Session> {
  const session: Session = {};
  for (const key of texts.map((text) => text.trim()).filter((text) => text !== '')) {
    const holder = await readHolder(key);
    session[holder.kind === 'service' ? 'service' : 'workspace'] = { key, holder };
  }
  const [one, other] = [session.workspace?.holder, session.service?.holder];
  if (one && other && (one.workspace.id !== other.workspace.id || one.mode !== other.mode))
    throw new ApiError(
      0,
      'mixed_keys',
      `The keys do not belong together: one is for ${one.workspace.id} (${one.mode}), the other for ${other.workspace.id} (${other.mode}).`,
    );
  return session;
}
