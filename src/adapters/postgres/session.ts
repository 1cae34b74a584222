/** Settings of a session with PostgreSQL, set in a way that also works behind a pooler in session mode. */

import type pg from 'pg';

/**
 * Sets parameters of a new session. As parameters of the connection's start, poolers would refuse or drop
 * them.
 */
export async function setSession(
  client: pg.ClientBase,
  settings: Record<string, string>,
  silenceMs = 12_000,
): Promise<void> {
  const calls = Object.keys(settings).map((_, n) => `set_config($${2 * n + 1}, $${2 * n + 2}, false)`);
  await client.query({
    text: `select ${calls.join(', ')}`,
    values: Object.entries(settings).flat(),
    query_timeout: silenceMs,
  } as pg.QueryConfig);
}

/** The URL with an empty `options` parameter, for libraries that add one of their own at the start. */
export const withoutStartOptions = (url: string): string =>
  /[?&]options=/.test(url) ? url : `${url}${url.includes('?') ? '&' : '?'}options=`;
