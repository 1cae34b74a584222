/** A deny list in a file, reloaded when the file changes. An invalid file never replaces a valid list. */

import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { RequestError } from '../../domain/errors.ts';
import { type Address, isAddress } from '../../domain/hex.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Screener } from '../../ports/screening.ts';
import { readTextFile } from '../system/text-file.ts';

export interface DenyList extends Screener {
  /** Throws `DenyListError` without a valid file: a venue must not start unscreened. */
  start(): Promise<void>;
  stop(): void;
  reload(): Promise<boolean>;
  version(): string;
}

interface DenyListDeps {
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

interface DenyListOptions {
  path: string;
  pollEveryMs?: number;
}

interface Edition {
  addresses: ReadonlySet<Address>;
  version: string;
}

const PROVIDER = 'deny-list';

export function createDenyList(
  { clock, log, metrics }: DenyListDeps,
  { path, pollEveryMs = 1_000 }: DenyListOptions,
): DenyList {
  const entries = metrics.gauge('firmquote_venue_deny_list_entries', 'Addresses on the deny list in force');
  const stale = metrics.gauge(
    'firmquote_venue_deny_list_stale',
    '1 while the file cannot be used and an older list is in force',
  );
  const reloads = metrics.counter(
    'firmquote_venue_deny_list_reloads_total',
    'Reloads of the deny list, by outcome',
    { outcome: ['read', 'refused'] },
  );
  let edition: Edition | undefined;
  let seen: string | undefined;
  let cancel = () => {};
  let stopped = false;
  let turn: Promise<unknown> = Promise.resolve();

  async function read(): Promise<void> {
    // A file that changes while it is read is read again.
    seen = await stampOf(path).catch(() => undefined);
    const next = parseDenyList(await readTextFile(path));
    edition = next;
    entries.set(next.addresses.size);
    stale.set(0);
  }

  async function reload(): Promise<boolean> {
    const before = edition?.version;
    try {
      await read();
      reloads.add({ outcome: 'read' });
      if (edition?.version !== before)
        log.info(
          { path, from: before, to: edition?.version, entries: edition?.addresses.size },
          'the deny list has changed',
        );
      return true;
    } catch (err) {
      stale.set(1);
      reloads.add({ outcome: 'refused' });
      log.error(
        { path, err: sentence(err), inForce: before },
        'the deny list file is invalid; the previous list stays in use',
      );
      return false;
    }
  }

  function schedulePoll(): void {
    cancel = clock.after(pollEveryMs, () => {
      const changed = turn.then(async () => {
        const stamp = await stampOf(path).catch(() => undefined);
        if (!stopped && stamp !== seen) await reload();
      });
      turn = changed.catch(() => {});
      void turn.then(() => {
        if (!stopped) schedulePoll();
      });
    });
  }

  return {
    provider: PROVIDER,
    async screen(address) {
      const listed = edition?.addresses.has(address) ?? true;
      return {
        provider: PROVIDER,
        listVersion: edition?.version ?? null,
        decision: listed ? 'denied' : 'allowed',
        reason: listed ? 'listed' : 'not_listed',
        atMs: clock.nowMs(),
      };
    },
    async start() {
      try {
        await read();
      } catch (err) {
        throw new DenyListError(path, sentence(err));
      }
      schedulePoll();
    },
    stop() {
      stopped = true;
      cancel();
    },
    reload() {
      const done = turn.then(reload);
      turn = done;
      return done;
    },
    version: () => edition?.version ?? 'none',
  };
}

async function stampOf(path: string): Promise<string> {
  const { ino, size, mtimeMs, ctimeMs } = await stat(path);
  return [ino, size, mtimeMs, ctimeMs].join(' ');
}

/**
 * Parses JSON `{"version": "...", "addresses": ["0x..."]}` or an array of addresses; or text with one address
 * per line, where `#` begins a comment and `# version: ...` declares a version. One invalid entry invalidates
 * the file.
 */
export function parseDenyList(text: string): Edition {
  const { declared, addresses } = /^\s*[[{]/.test(text) ? fromJson(text) : fromText(text);
  const wrong = addresses.findIndex((address) => !isAddress(address));
  if (wrong !== -1)
    throw new Error(
      `entry ${wrong + 1}, ${visible(addresses[wrong] ?? '')}, is not an address (0x and 40 hex digits)`,
    );
  const hash = `sha256:${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  return {
    addresses: new Set(addresses.map((address) => address.toLowerCase() as Address)),
    version: declared === undefined ? hash : `${declared} ${hash}`,
  };
}

/** Shows characters that have no width, and others that look like ASCII. */
const visible = (text: string): string =>
  JSON.stringify(text.slice(0, 60)).replace(
    /[^ -~]/gu,
    (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`,
  );

interface Listed {
  declared: string | undefined;
  addresses: string[];
}

function fromJson(text: string): Listed {
  const json = JSON.parse(text) as unknown;
  const { version, addresses, ...rest } = Array.isArray(json)
    ? { addresses: json as unknown, version: undefined }
    : (json as Record<string, unknown>);
  if (!Array.isArray(addresses) || addresses.some((address) => typeof address !== 'string'))
    throw new Error('"addresses" must be a list of strings');
  if (version !== undefined && (typeof version !== 'string' || version.length > 100))
    throw new Error('"version" must be a string of at most 100 characters');
  const [extra] = Object.keys(rest);
  if (extra !== undefined) throw new Error(`"${extra.slice(0, 40)}" is not a field of a deny list`);
  return { declared: version, addresses: addresses as string[] };
}

function fromText(text: string): Listed {
  const lines = text.split(/\r\n|\r|\n/);
  const declared = lines.flatMap((line) => /^#\s*version:\s*(\S.{0,99}?)\s*$/i.exec(line)?.[1] ?? [])[0];
  return {
    declared,
    addresses: lines.map((line) => line.replace(/#.*/, '').trim()).filter((line) => line !== ''),
  };
}

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class DenyListError extends RequestError {
  constructor(path: string, why: string) {
    super(
      `The deny list ${path} cannot be used: ${why}. The venue does not start without it. Correct ` +
        'the file, or remove screening.denyListFile from the configuration.',
      { code: 'deny_list' },
    );
  }
}
