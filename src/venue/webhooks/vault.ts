/** Encrypts signing secrets for the database: AES-256-GCM under a key of the venue, bound to the endpoint. */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { RequestError } from '../../domain/errors.ts';
import type { VaultKey } from '../options.ts';

/** Seals with the first key and opens with all. */
export interface Vault {
  seal(endpointId: string, text: string): string;
  /** Throws `RequestError` `webhook_key_missing` when its key is not configured or the text was changed. */
  open(endpointId: string, sealed: string): string;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Returns the vault; undefined without a key. */
export function createVault(given: readonly VaultKey[]): Vault | undefined {
  const [first] = given;
  if (!first) return undefined;
  const keys = new Map(
    given.map(({ id, secret }) => [
      id,
      Buffer.from(hkdfSync('sha256', secret, '', 'firmquote webhook secrets', 32)),
    ]),
  );
  const keyOf = (id: string): Buffer => {
    const key = keys.get(id);
    if (!key) throw unopened(`its key "${id}" is not in keys.webhooks`);
    return key;
  };
  return {
    seal(endpointId, text) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyOf(first.id), iv).setAAD(Buffer.from(endpointId));
      const parts = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return `v1.${first.id}.${Buffer.concat(parts).toString('base64url')}`;
    },
    open(endpointId, sealed) {
      const [, id = '', data = ''] = sealed.split('.');
      const bytes = Buffer.from(data, 'base64url');
      const key = keyOf(id);
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
          .setAAD(Buffer.from(endpointId))
          .setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch {
        throw unopened(`the key "${id}" of keys.webhooks is not the one that encrypted it`);
      }
    },
  };
}

const unopened = (why: string): RequestError =>
  new RequestError(
    `A webhook secret cannot be decrypted: ${why}. Bring back that key, or rotate the secret.`,
    { code: 'webhook_key_missing' },
  );
