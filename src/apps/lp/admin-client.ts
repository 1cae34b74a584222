/** Calls the admin API of a running LP. */

import { userInfo } from 'node:os';
import { RequestError, UpstreamError } from '../../domain/errors.ts';
import type { Json } from '../../protocol/json.ts';
import { loadConfig } from '../config/load.ts';
import type { AdminActions, AdminEndings, AdminReads } from './admin/answers.ts';
import { zLpServers } from './config.ts';
import { readAdminToken } from './token.ts';
import { toolContext } from '../wiring/process.ts';
import type { SecretFileOptions } from '../../adapters/keystore/file.ts';
import { badRequest } from '../wiring/bad-request.ts';

export interface AdminClientOptions {
  config?: string;
  admin?: string;
  tokenFile?: string;
  json?: boolean;
}

export interface AdminClient {
  readonly url: string;
  /** `id` stands for `:id` in the path; `query` comes without "?". */
  get<Path extends keyof AdminReads>(
    path: Path,
    given?: { id?: string; query?: string },
  ): Promise<Json<AdminReads[Path]>>;
  /** Answers the body also of a refusal (409), with `error`. Throws when no LP answers. */
  post<Path extends keyof AdminActions>(
    path: Path,
    fields?: Readonly<Record<string, string | number>>,
  ): Promise<{ ok: boolean; body: Done<Path> }>;
  delete<Path extends keyof AdminEndings>(path: Path, id?: string): Promise<Json<AdminEndings[Path]>>;
}

type Done<Path extends keyof AdminActions> = Json<AdminActions[Path]> & {
  error?: { code: string; message: string };
};

const TIMEOUT_MS = 10_000;

export async function openAdminClient(options: AdminClientOptions): Promise<AdminClient> {
  const { url, tokenFile, secrets, opsUrl, config } = await find(options);
  const token = tokenFile === null ? undefined : await readAdminToken(tokenFile, secrets);

  async function call<T>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    fields?: object,
  ): Promise<{ status: number; body: T }> {
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(fields !== undefined && { 'content-type': 'application/json' }),
    };
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(fields !== undefined && { body: JSON.stringify(fields) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch(async (cause: unknown) => {
      throw new UpstreamError(await explainSilence(url, opsUrl, config), { code: 'lp_unreachable', cause });
    });
    const body = await response.json().catch(() => undefined);
    const error = (body as { error?: { code?: string; message?: string } } | undefined)?.error;
    if (response.status === 401)
      throw new RequestError(
        `The admin API at ${url} needs its token. Give the configuration (--config FILE) or the token file (--token-file FILE).`,
        { code: 'unauthorized' },
      );
    if (body === undefined || error?.code === 'not_found' || error?.code === 'method_not_allowed')
      throw new RequestError(
        `The server at ${url} is not the admin API of an LP that has ${path}. Check the port (admin.port) and the version of firmquote.`,
        { code: 'wrong_door' },
      );
    if (response.status >= 400 && !(response.status === 409 && method === 'POST'))
      throw new RequestError(error?.message ?? `The LP answered ${response.status}.`, {
        code: error?.code ?? 'refused',
      });
    return { status: response.status, body: body as T };
  }

  return {
    url,
    async get<Path extends keyof AdminReads>(
      path: Path,
      { id, query }: { id?: string; query?: string } = {},
    ) {
      const asked = query === undefined ? '' : `?${query}`;
      return (await call<Json<AdminReads[Path]>>('GET', `${withId(path, id)}${asked}`)).body;
    },
    async post<Path extends keyof AdminActions>(
      path: Path,
      fields: Readonly<Record<string, string | number>> = {},
    ) {
      const { status, body } = await call<Done<Path>>('POST', path, { by: whoAmI(), ...fields });
      return { ok: status < 400, body };
    },
    async delete<Path extends keyof AdminEndings>(path: Path, id?: string) {
      const by = encodeURIComponent(whoAmI());
      return (await call<Json<AdminEndings[Path]>>('DELETE', `${withId(path, id)}?by=${by}`)).body;
    },
  };
}

const withId = (path: string, id = ''): string => path.replace(':id', () => encodeURIComponent(id));

async function find({
  config: file,
  admin,
  tokenFile,
}: AdminClientOptions): Promise<{
  url: string;
  tokenFile: string | null;
  secrets: SecretFileOptions;
  opsUrl?: string;
  config?: string;
}> {
  if (admin !== undefined) {
    if (!URL.canParse(admin) || !admin.startsWith('http'))
      throw badRequest(`"${admin}" is not the URL of an admin API, such as http://127.0.0.1:9201.`);
    return {
      url: admin.replace(/\/+$/, ''),
      tokenFile: tokenFile ?? null,
      secrets: toolContext('admin').secrets,
    };
  }
  if (file === undefined)
    throw badRequest('Give the configuration of the LP (--config FILE) or its admin API (--admin URL).');
  const adminEnv = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^FIRMQUOTE__(?:OPS|ADMIN|SECRETS)__/.test(name)),
  );
  const { config } = await loadConfig(zLpServers, file, adminEnv);
  const host = config.ops.host === '0.0.0.0' ? '127.0.0.1' : config.ops.host;
  return {
    url: `http://127.0.0.1:${config.admin.port}`,
    tokenFile: tokenFile ?? config.admin.tokenFile,
    secrets: config.secrets,
    opsUrl: `http://${host}:${config.ops.port}`,
    config: file,
  };
}

/** The admin API opens last: a starting LP answers only at its health endpoint. */
async function explainSilence(
  url: string,
  opsUrl: string | undefined,
  config: string | undefined,
): Promise<string> {
  const health =
    opsUrl === undefined
      ? undefined
      : await fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
          (answer) => answer.json() as Promise<{ reasons?: string[] }>,
          () => undefined,
        );
  if (health !== undefined)
    return `The LP is running, but its admin API at ${url} is not open yet (${health.reasons?.join('; ') || 'no reason given'}). Try again shortly; the log of the LP says what it waits for.`;
  return `No LP answers at ${url}. Start it with: firmquote lp --config ${config ?? 'FILE'}. If it is running, check admin.port in its configuration.`;
}

function whoAmI(): string {
  try {
    return `cli (${userInfo().username})`;
  } catch {
    return 'cli';
  }
}
