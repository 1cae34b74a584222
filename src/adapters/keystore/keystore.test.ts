import { chmod, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Address, Hex } from '../../domain/hex.ts';
import { readSecretFile, writeSecretFile } from './file.ts';
import { KeystoreError } from './keystore-error.ts';
import { decryptKey, encryptKey, keystoreAddress } from './keystore.ts';

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

  test('error: readable by others, with advice for own files and for mounted ones', async () => {
    const path = join(folder, 'open.json');
    await writeSecretFile(path, 'secret');
    await chmod(path, 0o640);
    await expect(readSecretFile(path)).rejects.toThrow(/mode 640.*chmod 600 \S+$/);
    await expect(readSecretFile(path, { mounted: false })).rejects.toThrow(
      /chmod 600.*mounts it.*secrets\.mounted.*FIRMQUOTE__SECRETS__MOUNTED=true/,
    );
  });

  test.each([0o400, 0o440, 0o444, 0o600, 0o640, 0o644])('mounted: mode %o is read', async (mode) => {
    const path = join(folder, `mounted-${mode}`);
    await writeFile(path, 'secret\n');
    await chmod(path, mode);
    expect(await readSecretFile(path, { mounted: true })).toBe('secret\n');
  });

  test.each([0o460, 0o646, 0o666, 0o777])('error: mounted, and others may write: mode %o', async (mode) => {
    const path = join(folder, `writable-${mode}`);
    await writeFile(path, 'secret');
    await chmod(path, mode);
    await expect(readSecretFile(path, { mounted: true })).rejects.toThrow(/changed by others.*0440/);
  });

  test('mounted: a volume as Kubernetes lays it out, links and sticky folder', async () => {
    const volume = join(folder, 'volume');
    await mkdir(join(volume, '..2026_11_27_10_00_00.1'), { recursive: true });
    await writeFile(join(volume, '..2026_11_27_10_00_00.1', 'operator.json'), 'secret', { mode: 0o440 });
    await symlink('..2026_11_27_10_00_00.1', join(volume, '..data'));
    await symlink(join('..data', 'operator.json'), join(volume, 'operator.json'));
    await chmod(volume, 0o1777);
    expect(await readSecretFile(join(volume, 'operator.json'), { mounted: true })).toBe('secret');
    await expect(readSecretFile(volume, { mounted: true })).rejects.toThrow(/is a folder/);
  });

  test('reads what Windows editors write, and says what it cannot read', async () => {
    const path = join(folder, 'windows.json');
    await writeSecretFile(path, '\ufeff{"version": 3}\r\n');
    expect(await readSecretFile(path)).toBe('{"version": 3}\r\n');
    await writeFile(path, Buffer.from('\ufeffpassword', 'utf16le'));
    await expect(readSecretFile(path)).rejects.toThrow(/windows\.json is UTF-16/);
  });

  test('error: missing', async () => {
    await expect(readSecretFile(join(folder, 'none.json'))).rejects.toThrow(/does not exist/);
  });
});
