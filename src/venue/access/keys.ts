/**
 * API keys: 256 bits after a readable prefix, shown once, kept as a SHA-256, compared in constant time,
 * revoked everywhere at once.
 */

import { hash, timingSafeEqual } from 'node:crypto';
import { hexToBytes } from '../../domain/hex.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Random } from '../../ports/random.ts';
import type { ApiKey, KeyMode, KeyStore } from '../../ports/stores/store.ts';
import { createReadThroughCache, CACHE_MS } from './read-through-cache.ts';

/** Bus topic: some key changed; whatever is cache is to be asked for again. */
export const KEYS_TOPIC = 'keys';

const KEY = /^fq_(test|live)_([A-Za-z0-9_-]{43})$/;
const LOOKUP_LENGTH = 8;

export type NewKey = Omit<ApiKey, 'id' | 'lookup' | 'sha256' | 'createdAtMs' | 'revokedAtMs'>;

/** A fresh key: its text, which nobody can read again, and the row to keep. */
export function mintKey(
  { random, clock }: { random: Random; clock: Clock },
  key: NewKey,
): { text: string; record: ApiKey } {
  const secret = Buffer.from(hexToBytes(random.bytes32())).toString('base64url');
  const text = `fq_${key.mode}_${secret}`;
  return {
    text,
    record: {
      ...key,
      ...keyFingerprint(text),
      id: `key_${random.bytes32().slice(2, 18)}`,
      createdAtMs: clock.nowMs(),
      revokedAtMs: null,
    },
  };
}

/** How a key is found and recognised without being kept. */
export function keyFingerprint(text: string): { lookup: string; sha256: string } {
  return { lookup: text.slice(8, 8 + LOOKUP_LENGTH), sha256: hash('sha256', text) };
}

export interface Keyring {
  /**
   * The live key with this text; undefined for missing, malformed, unknown and revoked ones alike.
   * Synchronous when it is cache.
   */
  find(text: string | undefined): ApiKey | undefined | Promise<ApiKey | undefined>;
  /**
   * Calls back, once, when this key is found to have been revoked, whatever was known of it before. Returns
   * how to stop watching.
   */
  watch(key: ApiKey, revoked: () => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createKeyring({
  store,
  bus,
  clock,
  log,
}: {
  store: KeyStore;
  bus: Bus;
  clock: Clock;
  log: Log;
}): Keyring {
  // By hash and not by text: a dump of this memory holds no key.
  const cache = createReadThroughCache({ bus, clock, topic: KEYS_TOPIC, read });
  const watched = new Map<string, Set<() => void>>();
  let unsubscribe: (() => Promise<void>) | undefined;
  let cancelSweep = () => {};

  async function read(id: string): Promise<ApiKey | undefined> {
    const [mode, lookup = '', sha256 = ''] = id.split(' ');
    const given = Buffer.from(sha256, 'hex');
    let found: ApiKey | undefined;
    for (const key of await store.findKey(lookup)) {
      const kept = Buffer.from(key.sha256, 'hex');
      if (
        kept.length === given.length &&
        timingSafeEqual(kept, given) &&
        key.revokedAtMs === null &&
        key.mode === (mode as KeyMode)
      )
        found = key;
    }
    return found;
  }

  /**
   * Asks the database: an announcement may have been missed, or have come while a connection was being let
   * in.
   */
  async function check(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const live = new Set(await store.liveKeys(ids));
    for (const id of ids) {
      if (live.has(id)) continue;
      const told = watched.get(id);
      watched.delete(id);
      for (const revoked of told ?? []) revoked();
    }
  }

  const checkSoon = (ids: readonly string[]): void =>
    void check(ids).catch((error: unknown) =>
      log.warn(
        { error },
        'open connections could not be checked for revoked keys; the next sweep tries again',
      ),
    );

  function sweep(): void {
    checkSoon([...watched.keys()]);
    cancelSweep = clock.after(CACHE_MS, sweep);
  }

  return {
    find(text) {
      // Whatever was sent is hashed, so that a malformed key costs what a wrong one costs.
      const { lookup, sha256 } = keyFingerprint(text ?? '');
      const match = KEY.exec(text ?? '');
      return match ? cache.get(`${match[1]} ${lookup} ${sha256}`) : undefined;
    },
    watch({ id }, revoked) {
      const told = watched.get(id);
      if (told) told.add(revoked);
      else watched.set(id, new Set([revoked]));
      checkSoon([id]);
      return () => {
        const left = watched.get(id);
        if (left?.delete(revoked) && left.size === 0) watched.delete(id);
      };
    },
    async start() {
      await cache.start();
      unsubscribe = await bus.subscribe(KEYS_TOPIC, () => checkSoon([...watched.keys()]));
      cancelSweep = clock.after(CACHE_MS, sweep);
    },
    async stop() {
      cancelSweep();
      await unsubscribe?.();
      await cache.stop();
    },
  };
}
