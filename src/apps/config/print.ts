/** Shows a configuration as it was understood: one line an option, with where the value came from. */

const HIDDEN = /password$|secret$|apikey$|databaseurl|redisurl|rpcurls/i;

export function printConfig(
  config: unknown,
  { file, fromEnv }: { file: unknown; fromEnv: readonly string[] },
): string[] {
  const env = new Set(fromEnv);
  return leaves(config, []).map(({ path, value }) => {
    const name = path.join('.');
    const origin = env.has(name) ? '  (environment)' : has(file, path) ? '' : '  (default)';
    return `${name} = ${shown(path, value)}${origin}`;
  });
}

function leaves(value: unknown, path: (string | number)[]): { path: (string | number)[]; value: unknown }[] {
  if (typeof value !== 'object' || value === null) return value === undefined ? [] : [{ path, value }];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.map((item, index) => [index, item])
    : Object.entries(value);
  if (entries.length === 0) return [{ path, value }];
  return entries.flatMap(([key, inner]) => leaves(inner, [...path, key]));
}

function has(file: unknown, path: readonly (string | number)[]): boolean {
  let at = file;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !(key in at)) return false;
    at = (at as Record<string | number, unknown>)[key];
  }
  return true;
}

/**
 * A value as it may be shown: what is secret by its name, and what a URL may carry, is taken out at any
 * depth.
 */
export function shown(path: readonly (string | number)[], value: unknown): string {
  if (Array.isArray(value))
    return `[${value.map((item, index) => shown([...path, index], item)).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, inner]) => `${key}: ${shown([...path, key], inner)}`)
      .join(', ')}}`;
  if (typeof value === 'bigint') return value.toString();
  // A URL may carry a key or a password; its host is enough to recognise it.
  if (typeof value === 'string' && (HIDDEN.test(path.join('.')) || value.includes('://'))) {
    if (!URL.canParse(value)) return '"…"';
    const url = new URL(value);
    return `"${url.protocol}//${url.host}${url.pathname.length > 1 || url.search || url.username ? '/…' : ''}"`;
  }
  return JSON.stringify(value);
}
