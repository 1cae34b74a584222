/** Prints a parsed configuration, without secrets. */

const HIDDEN = /password$|secret$|apikey$|databaseurl|redisurl|rpcurls/i;

export function printConfig(
  config: unknown,
  { file, fromEnv }: { file: unknown; fromEnv: readonly string[] },
): string[] {
  const env = new Set(fromEnv);
  return leaves(config, []).map(({ path, value }) => {
    const name = path.join('.');
    const origin = env.has(name) ? '  (environment)' : has(file, path) ? '' : '  (default)';
    return `${name} = ${redacted(path, value)}${origin}`;
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

/** Hides options that are secret by name, and everything in a URL but its host. */
export function redacted(path: readonly (string | number)[], value: unknown): string {
  if (Array.isArray(value))
    return `[${value.map((item, index) => redacted([...path, index], item)).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, inner]) => `${key}: ${redacted([...path, key], inner)}`)
      .join(', ')}}`;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string' && (HIDDEN.test(path.join('.')) || value.includes('://'))) {
    if (!URL.canParse(value)) return '"…"';
    const url = new URL(value);
    return `"${url.protocol}//${url.host}${url.pathname.length > 1 || url.search || url.username ? '/…' : ''}"`;
  }
  return JSON.stringify(value);
}
