import fc from 'fast-check';
import { recoverAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import type { Hex } from '../../domain/hex.ts';
import { bytesToHex } from '../../domain/hex.ts';
import { InvariantError } from '../../domain/errors.ts';
import { type Ecdsa, ecdsa, loadPrebuilt, portable } from './ecdsa.ts';
import { createRecovery } from './recovery.ts';
import { createSigner, PrivateKeyError } from './signer.ts';
import { loadSystemLibrary } from './system-library.ts';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const prebuilt = loadPrebuilt();
const system = loadSystemLibrary();
const key = fc.bigInt(1n, ORDER - 1n).map((n): Hex => `0x${n.toString(16).padStart(64, '0')}`);
const digest = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(bytesToHex);

test('the prebuilt library runs on this platform (linux x64, darwin arm64, win32 x64), and the system has its own', () => {
  const carried = ['linux-x64', 'darwin-arm64', 'win32-x64'].includes(`${process.platform}-${process.arch}`);
  expect(prebuilt !== undefined).toBe(carried);
  expect(system?.name, 'npm test installs libsecp256k1 where it may').toBe('libsecp256k1');
  expect(ecdsa).toMatchObject({ name: 'libsecp256k1' });
});

test('behavior: a file that is not there, or is another library, leaves the choice to the next', () => {
  expect(loadSystemLibrary(['libsecp256k1.so.99', 'libc.so.6'])).toBeUndefined();
});

test('error: the library would read past what is too short, so nothing too short reaches it', () => {
  const [short, whole] = [new Uint8Array(31), new Uint8Array(32).fill(1)];
  const library = system as Ecdsa;
  for (const act of [
    () => library.sign(short, whole),
    () => library.sign(whole, short),
    () => library.publicKey(short),
    () => library.recover(short, new Uint8Array(64), 0),
    () => library.recover(whole, whole, 0),
  ]) {
    expect(act).toThrow(InvariantError);
  }
  expect(() => library.sign(whole, new Uint8Array(32)), 'zero is no key').toThrow(InvariantError);
  expect(
    library.recover(whole, new Uint8Array(64).fill(1), 4),
    'an id that the library ends the process on',
  ).toBeUndefined();
});

describe.each(
  [
    ['libsecp256k1', system],
    ['secp256k1', prebuilt],
    ['@noble/curves', portable],
  ].filter(([, ecdsa]) => ecdsa !== undefined) as [string, Ecdsa][],
)('%s', (_, ecdsa) => {
  const recovery = createRecovery(ecdsa);

  test('law: recovers the signer, and signs as viem does', async () => {
    await fc.assert(
      fc.asyncProperty(key, digest, async (privateKey, hash) => {
        const signer = createSigner(privateKey, ecdsa);
        const account = privateKeyToAccount(privateKey);
        const signature = signer.sign(hash);
        expect(signature).toBe(await account.sign({ hash }));
        expect(signer.address).toBe(account.address.toLowerCase());
        expect(recovery.recover(hash, signature)).toBe(signer.address);
      }),
      { numRuns: 25 },
    );
  });

  test('law: one signature has one spelling of s; v 0/1, 27/28 and compact form are the same signer', () => {
    fc.assert(
      fc.property(key, digest, (privateKey, hash) => {
        const { sign, address } = createSigner(privateKey, ecdsa);
        const signature = sign(hash);
        const [r, s, v] = [
          signature.slice(2, 66),
          BigInt(`0x${signature.slice(66, 130)}`),
          Number.parseInt(signature.slice(130), 16),
        ];
        const word = (n: bigint) => n.toString(16).padStart(64, '0');
        const highTwin: Hex = `0x${r}${word(ORDER - s)}${v === 27 ? '1c' : '1b'}`;
        expect(recovery.recover(hash, highTwin)).toBeUndefined();
        expect(recovery.recover(hash, `0x${r}${word(s)}0${v - 27}`)).toBe(address);
        expect(recovery.recover(hash, `0x${r}${word(s + (BigInt(v - 27) << 255n))}`)).toBe(address);
      }),
      { numRuns: 25 },
    );
  });

  test.each([
    '0x',
    '0x00',
    `0x${'00'.repeat(65)}`,
    `0x${'ff'.repeat(65)}`,
    `0x${'11'.repeat(66)}`,
    `0x${'11'.repeat(64)}1d`,
    `0x${'00'.repeat(32)}${'11'.repeat(32)}1b`,
    `0x${'11'.repeat(32)}${'00'.repeat(32)}1b`,
  ] as Hex[])('behavior: %s recovers nobody', (signature) =>
    expect(recovery.recover(`0x${'ab'.repeat(32)}`, signature)).toBeUndefined(),
  );

  test('error: bytes that are no private key', () => {
    for (const bad of [`0x${'00'.repeat(32)}`, `0x${ORDER.toString(16)}`, '0x12'] as Hex[])
      expect(() => createSigner(bad, ecdsa)).toThrow(PrivateKeyError);
  });
});

test('law: all libraries give the same bytes, and an outsider (viem) agrees who signed', async () => {
  await fc.assert(
    fc.asyncProperty(key, digest, async (privateKey, hash) => {
      const signature = createSigner(privateKey, portable).sign(hash);
      for (const library of [system, prebuilt])
        if (library) expect(createSigner(privateKey, library).sign(hash)).toBe(signature);
      expect((await recoverAddress({ hash, signature })).toLowerCase()).toBe(
        createSigner(privateKey).address,
      );
    }),
    { numRuns: 25 },
  );
});
