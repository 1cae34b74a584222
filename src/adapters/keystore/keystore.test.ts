import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Address, Hex } from '../../domain/hex.ts';
import { readSecretFile, writeSecretFile } from './file.ts';
import { decryptKey, encryptKey, keystoreAddress, KeystoreError } from './keystore.ts';

const LIGHT = { n: 1 << 10 };
const PASSWORDS = ['correct horse', '', 'ünïcødé ﬁ 密码', 'x'.repeat(300)];

function fresh() {
  const wallet = Wallet.createRandom();
  return { privateKey: wallet.privateKey as Hex, address: wallet.address.toLowerCase() as Address };
}

describe('keystore', () => {
  test.each(PASSWORDS)('ethers opens what we write, password %j', async (password) => {
    const key = fresh();
    const text = await encryptKey(key, password, LIGHT);
    expect((await Wallet.fromEncryptedJson(text, password)).privateKey).toBe(key.privateKey);
    expect(keystoreAddress(text)).toBe(key.address);
    expect(text).not.toContain(key.privateKey.slice(2));
  });

  test('opens what ethers writes', async () => {
    const wallet = Wallet.createRandom();
    const text = await new Wallet(wallet.privateKey).encrypt('pässword', undefined);
    expect(await decryptKey(text, 'pässword')).toBe(wallet.privateKey);
  });

  test('error: wrong password, damaged file, foreign kdf', async () => {
    const text = await encryptKey(fresh(), 'right', LIGHT);
    await expect(decryptKey(text, 'wrong')).rejects.toThrow(KeystoreError);
    await expect(decryptKey(text.slice(1), 'right')).rejects.toThrow(/not JSON/);
    await expect(decryptKey(text.replace('"scrypt"', '"pbkdf2"'), 'right')).rejects.toThrow(/crypto\.kdf/);
    const flipped = text.replace(
      /"ciphertext":"(.)/,
      (_, digit: string) => `"ciphertext":"${digit === '0' ? '1' : '0'}`,
    );
    await expect(decryptKey(flipped, 'right')).rejects.toThrow(KeystoreError);
  });
});

describe('secret file', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fq-keystore-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('is written for its owner only and never overwritten', async () => {
    const path = join(folder, 'deep', 'a.json');
    await writeSecretFile(path, 'first');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await expect(writeSecretFile(path, 'second')).rejects.toThrow(/never overwritten/);
    expect(await readSecretFile(path)).toBe('first');
  });

  test('error: readable by others', async () => {
    const path = join(folder, 'open.json');
    await writeSecretFile(path, 'secret');
    await chmod(path, 0o640);
    await expect(readSecretFile(path)).rejects.toThrow(/mode 640/);
  });

  test('error: missing', async () => {
    await expect(readSecretFile(join(folder, 'none.json'))).rejects.toThrow(/does not exist/);
  });
});
