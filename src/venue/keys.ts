/** API keys: 256 bits after a readable prefix, shown once, kept as a SHA-256, compared in constant time, revoked everywhere at once. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { hexToBytes } from '../domain/hex.ts';
import type { Bus } from '../ports/bus.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { ApiKey, KeyMode, KeyStore } from '../ports/store.ts';

/** Bus topic: some key changed; whatever is remembered is to be asked for again. */
export const KEYS_TOPIC = 'keys';

const KEY = /^fq_(test|live)_([A-Za-z0-9_-]{43})$/;
const LOOKUP_LENGTH = 8;

export type NewKey = Omit<ApiKey, 'id' | 'lookup' | 'sha256' | 'createdAtMs' | 'revokedAtMs'>;

/** A fresh key: its text, which nobody can read again, and the row to keep. */
export function mintKey({ random, clock }: { random: Random; clock: Clock }, key: NewKey): { text: string; record: ApiKey } {
  const secret = Buffer.from(hexToBytes(random.bytes32())).toString('base64url');
  const text = `fq_${key.mode}_${secret}`;
  return { text, record: { ...key, ...keyFingerprint(text), id: `key_${random.bytes32().slice(2, 18)}`, createdAtMs: clock.nowMs(), revokedAtMs: null } };
}

/** How a key is found and recognised without being kept. */
export function keyFingerprint(text: string): { lookup: string; sha256: string } {
  return { lookup: text.slice(8, 8 + LOOKUP_LENGTH), sha256: createHash('sha256').update(text).digest('hex') };
}

export interface Keyring {
  /** The live key with this text; undefined for missing, malformed, unknown and revoked ones alike. Synchronous when it is remembered. */
  find(text: string | undefined): ApiKey | undefined | Promise<ApiKey | undefined>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A remembered key is asked for again after this long, should a revocation's message ever be lost. */
const REMEMBER_MS = 10_000;
const MAX_REMEMBERED = 20_000;

export function createKeyring({ store, bus, clock }: { store: KeyStore; bus: Bus; clock: Clock }): Keyring {
  const known = new Map<string, { key: ApiKey | undefined; untilMs: number }>();
  let unsubscribe: (() => Promise<void>) | undefined;

  async function lookUp(lookup: string, sha256: string, mode: KeyMode): Promise<ApiKey | undefined> {
    const given = Buffer.from(sha256, 'hex');
    let found: ApiKey | undefined;
    for (const key of await store.findKey(lookup)) {
      const kept = Buffer.from(key.sha256, 'hex');
      if (kept.length === given.length && timingSafeEqual(kept, given) && key.revokedAtMs === null && key.mode === mode) found = key;
    }
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(sha256, { key: found, untilMs: clock.monotonicMs() + REMEMBER_MS });
    return found;
  }

  return {
    find(text) {
      // Whatever was sent is hashed, so that a malformed key costs what a wrong one costs.
      const { lookup, sha256 } = keyFingerprint(text ?? '');
      const match = KEY.exec(text ?? '');
      if (!match) return undefined;
      const remembered = known.get(sha256);
      if (remembered && clock.monotonicMs() < remembered.untilMs) return remembered.key;
      return lookUp(lookup, sha256, match[1] as KeyMode);
    },
    async start() {
      unsubscribe = await bus.subscribe(KEYS_TOPIC, () => known.clear());
    },
    async stop() {
      await unsubscribe?.();
    },
  };
}
