import { generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KeyServiceFailure } from './key-service.ts';
import { readDer, readPublicKey } from './signature.ts';

const pairOf = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const { publicKey, privateKey } = pairOf('secp256k1');

describe('readDer', () => {
  test('law: gives the r and s that OpenSSL wrote', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (data) => {
        const der = sign('sha256', data, privateKey);
        const rs = readDer(der);
        expect(rs).toHaveLength(64);
        const [lengthOfR = 0] = der.subarray(3, 4);
        const r = der.subarray(4, 4 + lengthOfR);
        expect(BigInt(`0x${Buffer.from(rs.subarray(0, 32)).toString('hex')}`)).toBe(
          BigInt(`0x${r.toString('hex')}`),
        );
      }),
      { numRuns: 30 },
    );
  });

  test.each([
    ['nothing', ''],
    ['64 bytes without DER', '11'.repeat(64)],
    ['r and s 0', '3006020100020100'],
    ['a negative r', '3006020180020101'],
    ['bytes behind the end', '300602010102010100'],
    ['s above the order', `3026020101022100${'ff'.repeat(32)}`],
  ])('error: %s', (_, hex) => {
    expect(() => readDer(Buffer.from(hex, 'hex'))).toThrow(KeyServiceFailure);
  });
});

describe('readPublicKey', () => {
  test('DER and PEM give x and y', () => {
    const point = publicKey.export({ format: 'der', type: 'spki' }).subarray(-64);
    expect(Buffer.from(readPublicKey(publicKey.export({ format: 'der', type: 'spki' })))).toEqual(point);
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    expect(Buffer.from(readPublicKey(pem))).toEqual(point);
  });

  test('error: a key of another curve or kind, and what is no key', () => {
    const spki = (key: typeof publicKey) => key.export({ format: 'der', type: 'spki' });
    expect(() => readPublicKey(spki(pairOf('prime256v1').publicKey))).toThrow(/the key is P-256/);
    expect(() => readPublicKey(spki(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey))).toThrow(
      /the key is RSA/,
    );
    expect(() => readPublicKey('rubbish')).toThrow(/cannot be read/);
  });
});
