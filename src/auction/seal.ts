/**
 * The seal that ties submitted terms to shown terms: HMAC-SHA256 over the candidate, account, namespace and
 * mode. With it the venue stores nothing when it quotes. A rotated key verifies until its last quote has
 * lapsed.
 */

import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { InvariantError } from '../domain/errors.ts';
import type { UnixSeconds } from '../domain/time.ts';

export interface SealKey {
  kid: string;
  /** The secret has at least 32 bytes. */
  secret: Uint8Array;
  /** For a key that was rotated out, the longest validUntil that it can have sealed. null: no end. */
  acceptUntil: UnixSeconds | null;
}

interface SealScope {
  account: string;
  namespace: 'rfq' | 'router';
  mode: 'test' | 'live';
  commitments: string;
  /** RFC 8785 text without the checksum. */
  candidate: string;
}

export interface Sealer {
  /** The key that seals. */
  readonly kid: string;
  /** 64 lower-case hex digits. */
  mac(scope: SealScope): string;
  /** Verifies a seal; false for unknown and lapsed keys and for anything malformed; never throws. */
  verify(kid: string, mac: string, scope: SealScope, now: UnixSeconds): boolean;
}

/** The first key seals; all verify. Throws `InvariantError` on a missing, short or repeated key. */
export function createSealer(keys: readonly SealKey[]): Sealer {
  if (keys.length === 0)
    throw new InvariantError('The venue needs a key to seal quotes with; none is configured.');
  for (const { kid, secret } of keys) {
    if (!/^[A-Za-z0-9_-]{1,32}$/.test(kid))
      throw new InvariantError('A seal key id is 1 to 32 letters, digits, "-" or "_".');
    if (secret.length < 32) throw new InvariantError(`Seal key "${kid}" is shorter than 32 bytes.`);
  }
  const byId = new Map(
    keys.map(({ kid, secret, acceptUntil }) => [kid, { kid, secret: createSecretKey(secret), acceptUntil }]),
  );
  if (byId.size !== keys.length) throw new InvariantError('Two seal keys have the same id.');
  const [current] = byId.values() as unknown as [Prepared];
  return {
    kid: current.kid,
    mac: (scope) => digest(current, scope).toString('hex'),
    verify(kid, mac, scope, now) {
      const key = byId.get(kid);
      // An unknown key costs the same work as a known one.
      const expected = digest(key ?? current, scope);
      const given = Buffer.from(mac, 'hex');
      const equal = given.length === expected.length && timingSafeEqual(given, expected);
      return equal && key !== undefined && (key.acceptUntil === null || now <= key.acceptUntil);
    },
  };
}

interface Prepared {
  kid: string;
  secret: KeyObject;
  acceptUntil: UnixSeconds | null;
}

function digest(
  { kid, secret }: Prepared,
  { account, namespace, mode, commitments, candidate }: SealScope,
): Buffer {
  return createHmac('sha256', secret)
    .update(`candidate-v1\0${kid}\0${account}\0${namespace}\0${mode}\0${commitments}\0`)
    .update(candidate)
    .digest();
}
