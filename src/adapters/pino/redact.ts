/** Removes secrets from log entries. */

const REDACTED = '[redacted]';
const MAX_DEPTH = 8;
const MAX_ITEMS = 100;

const SECRET_NAMES =
  /^(?:xapikey|apikeys?|keytext|ticket|secwebsocketprotocol|authorization|cookie|password|passphrase|passwordfile|secrets?|hmac(?:key)?|mnemonic|private(?:key)?s?|.*privatekey|signature|.*signatures?|permit2lock|eip3009authorization|integritychecksum|rpc|rpcurls?|rpcs|databaseurl|redisurl|raw|rawtransaction)$/;
const KEY_TEXT = /\bfq_(test|live|ticket)_[A-Za-z0-9_-]+/g;
/** Signatures and longer data that may contain one; shown as their length. */
const LONG_HEX = /0x[0-9a-fA-F]{128,}/g;
const URL_TEXT = /\b([a-z][a-z0-9+.-]*):\/\/[^\s"'<>)\]}]+/gi;
const PEM_FRAME = /^-----(?:BEGIN|END) [A-Z ]+-----$/;
const LOOPBACK = /^(?:[^@/]*@)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i;

export interface Redactor {
  text(text: string): string;
  facts(facts: object): Record<string, unknown>;
  /** Hides a secret, and each line of one of several lines, such as a key in PEM. */
  hide(secret: string): void;
}

export function createRedactor(): Redactor {
  const hidden = new Set<string>();

  function text(value: string): string {
    let clean = value;
    for (const secret of hidden) if (clean.includes(secret)) clean = clean.replaceAll(secret, REDACTED);
    if (!clean.includes('0x') && !clean.includes('://') && !clean.includes('fq_')) return clean;
    return clean
      .replace(KEY_TEXT, (_, mode: string) => `fq_${mode}_${REDACTED}`)
      .replace(URL_TEXT, maskUrl)
      .replace(LONG_HEX, (hex) => `[${(hex.length - 2) >> 1} bytes]`);
  }

  function value(input: unknown, depth: number, seen: ReadonlySet<object>): unknown {
    if (typeof input === 'string') return text(input);
    if (typeof input === 'bigint') return input.toString();
    if (typeof input === 'function' || typeof input === 'symbol') return undefined;
    if (typeof input !== 'object' || input === null) return input;
    if (seen.has(input)) return '[circular]';
    if (depth >= MAX_DEPTH) return '[deep]';
    const below = new Set(seen).add(input);
    if (input instanceof Date) return Number.isNaN(input.getTime()) ? 'invalid date' : input.toISOString();
    if (input instanceof Uint8Array) return `[${input.byteLength} bytes]`;
    if (input instanceof Error) return error(input, depth, below);
    if (Array.isArray(input)) return list(input, depth, below);
    if (input instanceof Set) return list([...input], depth, below);
    if (input instanceof Map)
      return fields(
        [...input].map(([name, inner]) => [String(name), inner]),
        depth,
        below,
      );
    return fields(Object.entries(input), depth, below);
  }

  function list(items: readonly unknown[], depth: number, seen: ReadonlySet<object>): unknown[] {
    const shown = items.slice(0, MAX_ITEMS).map((item) => value(item, depth + 1, seen));
    return items.length > MAX_ITEMS ? [...shown, `[${items.length - MAX_ITEMS} more]`] : shown;
  }

  function fields(
    entries: readonly (readonly [string, unknown])[],
    depth: number,
    seen: ReadonlySet<object>,
  ): Record<string, unknown> {
    const shown = entries.slice(0, MAX_ITEMS).map(([name, inner]): [string, unknown] => {
      const holdsValue = inner !== null && inner !== undefined && typeof inner !== 'boolean';
      const secret = holdsValue && SECRET_NAMES.test(name.toLowerCase().replace(/[-_]/g, ''));
      return [text(name), secret ? REDACTED : value(inner, depth + 1, seen)];
    });
    return Object.fromEntries(shown);
  }

  /** viem's messages contain the RPC URL and the request; text() removes both. */
  function error(input: Error, depth: number, seen: ReadonlySet<object>): Record<string, unknown> {
    const own = Object.entries(input).filter(
      ([name]) =>
        !['message', 'stack', 'cause', 'name', 'metaMessages', 'details', 'shortMessage'].includes(name),
    );
    return {
      name: input.name,
      message: text(input.message),
      ...fields(own, depth, seen),
      ...(input.stack ? { stack: text(input.stack) } : {}),
      ...(input.cause === undefined ? {} : { cause: value(input.cause, depth + 1, seen) }),
    };
  }

  return {
    text,
    facts: (facts) =>
      facts instanceof Error
        ? { err: error(facts, 0, new Set()) }
        : (value(facts, 0, new Set()) as Record<string, unknown>),
    hide: (secret) => {
      const lines = secret.split(/[\r\n]+/).filter((line) => !PEM_FRAME.test(line));
      for (const part of [secret, ...lines]) if (part.length >= 4) hidden.add(part);
    },
  };
}

/** Keeps only loopback hosts: any part of another URL can reveal a key or a provider. */
function maskUrl(url: string, scheme: string): string {
  const rest = url.slice(scheme.length + 3);
  const host = rest.split(/[/?#]/, 1)[0] ?? '';
  if (!LOOPBACK.test(host)) return `${scheme}://${REDACTED}`;
  return `${scheme}://${host.slice(host.lastIndexOf('@') + 1)}`;
}
