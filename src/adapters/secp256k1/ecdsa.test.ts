import fc from 'fast-check';
import { recoverAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import type { Hex } from '../../domain/hex.ts';
import { keccak } from '../../domain/keccak.ts';
import { type Ecdsa, ecdsa, loadAddon, noble } from './ecdsa.ts';
import { createRecovery } from './recovery.ts';
import { createSigner, PrivateKeyError } from './signer.ts';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const addon = loadAddon();
const key = fc.bigInt(1n, ORDER - 1n).map((n): Hex => `0x${n.toString(16).padStart(64, '0')}`);
const message = fc.uint8Array({ maxLength: 300 });

test('loads the native addon on linux x64, darwin arm64 and win32 x64', () => {
  const prebuilt = ['linux-x64', 'darwin-arm64', 'win32-x64'].includes(`${process.platform}-${process.arch}`);
  expect(addon !== undefined).toBe(prebuilt);
  expect(ecdsa.name).toBe(prebuilt ? 'secp256k1' : '@noble/curves');
});

describe.each(
  [
    ['secp256k1', addon],
    ['@noble/curves', noble],
  ].filter(([, ecdsa]) => ecdsa !== undefined) as [string, Ecdsa][],
)('%s', (_, ecdsa) => {
  const recovery = createRecovery(ecdsa);

  test('law: recovers the signer, and signs as viem does', async () => {
    await fc.assert(
      fc.asyncProperty(key, message, async (privateKey, text) => {
        const hash = keccak(text);
        const signer = createSigner(privateKey, ecdsa);
        const account = privateKeyToAccount(privateKey);
        const signature = await signer.sign(text);
        expect(signature).toBe(await account.sign({ hash }));
        expect(signer.address).toBe(account.address.toLowerCase());
        expect(recovery.recover(hash, signature)).toBe(signer.address);
      }),
      { numRuns: 25 },
    );
  });

  test('law: normalises s; v 0/1, 27/28 and compact form recover the same signer', async () => {
    await fc.assert(
      fc.asyncProperty(key, message, async (privateKey, text) => {
        const hash = keccak(text);
        const { sign, address } = createSigner(privateKey, ecdsa);
        const signature = await sign(text);
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
  ] as Hex[])('behavior: %s has no signer', (signature) =>
    expect(recovery.recover(`0x${'ab'.repeat(32)}`, signature)).toBeUndefined(),
  );

  test('error: wrong lengths, before they reach the library', () => {
    const [short, whole] = [new Uint8Array(31), new Uint8Array(32).fill(1)];
    for (const act of [
      () => ecdsa.sign(whole, short),
      () => ecdsa.sign(whole, new Uint8Array(32)),
      () => ecdsa.publicKey(short),
    ])
      expect(act).toThrow();
    expect(ecdsa.recover(short, new Uint8Array(64), 0)).toBeUndefined();
    expect(ecdsa.recover(whole, whole, 0)).toBeUndefined();
    expect(ecdsa.recover(whole, new Uint8Array(64).fill(1), 4)).toBeUndefined();
  });

  test('error: bytes that are no private key', () => {
    for (const bad of [`0x${'00'.repeat(32)}`, `0x${ORDER.toString(16)}`, '0x12'] as Hex[])
      expect(() => createSigner(bad, ecdsa)).toThrow(PrivateKeyError);
  });
});

test('law: both libraries sign the same bytes, and viem recovers the same signer', async () => {
  await fc.assert(
    fc.asyncProperty(key, message, async (privateKey, text) => {
      const hash = keccak(text);
      const signature = await createSigner(privateKey, noble).sign(text);
      if (addon) expect(await createSigner(privateKey, addon).sign(text)).toBe(signature);
      expect((await recoverAddress({ hash, signature })).toLowerCase()).toBe(
        createSigner(privateKey).address,
      );
    }),
    { numRuns: 25 },
  );
});
