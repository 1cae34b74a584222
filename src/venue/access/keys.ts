/** API keys. The text is shown once; the database keeps its SHA-256, which is compared in constant time. */

import { hash, timingSafeEqual } from 'node:crypto';
import { hexToBytes } from '../../domain/hex.ts';
import type { ApiKey, KeyMode, KeyStore } from '../../ports/stores/store.ts';
import type { Random } from '../../ports/random.ts';
import type { VenueDeps } from '../deps.ts';
import { createReadThroughCache, CACHE_MS } from './read-through-cache.ts';

export const KEYS_TOPIC = 'keys';

const KEY = /^fq_(test|live)_([A-Za-z0-9_-]{43})$/;
const LOOKUP_LENGTH = 8;

export type NewKey = Omit<ApiKey, 'id' | 'lookup' | 'sha256' | 'createdAtMs' | 'revokedAtMs'>;

/** 256 bits as 43 characters. */
export const newSecret = (random: Random): string =>
  Buffer.from(hexToBytes(random.bytes32())).toString('base64url');

export function mintKey(
  { random, clock }: Pick<VenueDeps, 'random' | 'clock'>,
  key: NewKey,
): { text: string; record: ApiKey } {
  const text = `fq_${key.mode}_${newSecret(random)}`;
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

export function keyFingerprint(text: string): { lookup: string; sha256: string } {
  return { lookup: text.slice(8, 8 + LOOKUP_LENGTH), sha256: hash('sha256', text) };
}

export interface Keyring {
  /** undefined for missing, malformed, unknown and revoked keys alike. */
  find(text: string | undefined): Promise<ApiKey | undefined>;
  /** Returns a valid key that is in memory, at once. */
  known(text: string | undefined): ApiKey | undefined;
  /** Calls `revoked` once. Returns a function that stops watching. */
  watch(apiKey: ApiKey, revoked: () => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createKeyring({
  store,
  bus,
  clock,
  log,
}: Pick<VenueDeps, 'bus' | 'clock' | 'log'> & { store: KeyStore }): Keyring {
  // The cache is keyed by hash: a memory dump holds no key.
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

  /** An announcement may have been lost. */
  async function check(ids: readonly string[]) {
    if (ids.length === 0) return;
    const live = new Set(await store.liveKeys(ids));
    for (const id of ids) {
      if (live.has(id)) continue;
      const listeners = watched.get(id);
      watched.delete(id);
      for (const revoked of listeners ?? []) revoked();
    }
  }

  const checkSoon = (ids: readonly string[]): void =>
    void check(ids).catch((error: unknown) =>
      log.warn(
        { error },
        'open connections could not be checked for revoked keys; the next sweep tries again',
      ),
    );

  function sweep() {
    checkSoon([...watched.keys()]);
    cancelSweep = clock.after(CACHE_MS, sweep);
  }

  /** undefined for a malformed key, which is hashed too: it takes as long as a wrong one. */
  function cacheId(text: string | undefined): string | undefined {
    const { lookup, sha256 } = keyFingerprint(text ?? '');
    const match = KEY.exec(text ?? '');
    return match ? `${match[1]} ${lookup} ${sha256}` : undefined;
  }

  return {
    async find(text: string | undefined) {
      const id = cacheId(text);
      return id === undefined ? undefined : cache.get(id);
    },
    known(text: string | undefined) {
      const id = cacheId(text);
      return id === undefined ? undefined : cache.peek(id);
    },
    watch({ id }: ApiKey, revoked: () => void) {
      const listeners = watched.get(id);
      if (listeners) listeners.add(revoked);
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
