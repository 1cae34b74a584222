/** Signatures of partners: laws, and agreement with OpenSSL's files. */

import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  partnerHeaders,
  PartnerKeyError,
  partnerPublicKey,
  partnerSignatureFault,
  partnerSigningKey,
  publicKeyText,
} from './signature.ts';

const pem = () =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const [ours, theirs] = [partnerSigningKey(pem()), partnerSigningKey(pem())];
const keys = [partnerPublicKey(publicKeyText(ours))];

const zMessage = fc.record({
  id: fc.stringMatching(/^[a-z0-9_]{1,40}$/),
  timestamp: fc.integer({ min: 1_000, max: 4_000_000_000 }),
  body: fc.string(),
});
const read = (headers: ReturnType<typeof partnerHeaders>) => ({
  id: headers['webhook-id'],
  timestamp: headers['webhook-timestamp'],
  signature: headers['webhook-signature'],
});

test('law: what a key signs holds under this key alone, for these bytes, this id and this time', () => {
  fc.assert(
    fc.property(zMessage, fc.integer({ min: 1, max: 300 }), (message, seconds) => {
      const headers = read(partnerHeaders(message, [ours]));
      const at = { keys, now: message.timestamp + seconds, toleranceSeconds: 300 };
      expect(partnerSignatureFault(headers, message.body, at)).toBeUndefined();
      expect(partnerSignatureFault(headers, `${message.body} `, at)).toBe('signature');
      expect(partnerSignatureFault({ ...headers, id: `${headers.id}x` }, message.body, at)).toBe('signature');
      expect(
        partnerSignatureFault({ ...headers, timestamp: String(message.timestamp + 1) }, message.body, at),
      ).toBe('signature');
      expect(partnerSignatureFault(read(partnerHeaders(message, [theirs])), message.body, at)).toBe(
        'signature',
      );
      expect(partnerSignatureFault(headers, message.body, { ...at, now: message.timestamp + 301 })).toBe(
        'time',
      );
    }),
    { numRuns: 30 },
  );
});

test('a message without its headers is refused, and two keys may overlap', () => {
  const message = { id: 'm', timestamp: 5_000, body: '{}' };
  const headers = read(partnerHeaders(message, [theirs]));
  const at = { keys: [...keys, partnerPublicKey(publicKeyText(theirs))], now: 5_000, toleranceSeconds: 300 };
  expect(partnerSignatureFault(headers, '{}', at)).toBeUndefined();
  for (const name of ['id', 'timestamp', 'signature'] as const)
    expect(partnerSignatureFault({ ...headers, [name]: undefined }, '{}', at)).toBe('headers');
  expect(partnerSignatureFault({ ...headers, timestamp: '-1' }, '{}', at)).toBe('headers');
  const both = read(partnerHeaders(message, [theirs, ours]));
  expect(partnerSignatureFault(both, '{}', { ...at, keys })).toBeUndefined();
  const old = headers.signature.replace('v1a,', 'v1,');
  expect(partnerSignatureFault({ ...headers, signature: old }, '{}', at)).toBe('signature');
  expect(
    partnerSignatureFault({ ...headers, signature: `${old} ${headers.signature}` }, '{}', at),
  ).toBeUndefined();
});

test('a key of another kind is refused with how to make one', () => {
  const rsa = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  expect(() => partnerSigningKey(rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString())).toThrow(
    PartnerKeyError,
  );
  expect(() => partnerSigningKey('no key')).toThrow(/openssl genpkey/);
  expect(() => partnerPublicKey('bm8ga2V5')).toThrow(PartnerKeyError);
});
