/** Keystore files and passwords of other tools: each shape as that tool writes it, with cheap parameters. */

import { createCipheriv, pbkdf2Sync, randomBytes, scryptSync } from 'node:crypto';
import { decryptKeystoreJson, getBytes, keccak256, Wallet } from 'ethers';
import { describe, expect, test } from 'vitest';
import type { Address, Hex } from '../../domain/hex.ts';
import { decryptKey, encryptKey, keystoreAddress } from './keystore.ts';

const WALLET = new Wallet(`0x00${'c0ffee'.repeat(10)}11`);
const KEY = WALLET.privateKey as Hex;
const CHECKSUMMED = WALLET.address;
const ADDRESS = CHECKSUMMED.toLowerCase() as Address;

interface Encrypted {
  kdfparams: Record<string, string | number>;
  iv: string;
  ciphertext: string;
  mac: string;
}

function encrypt(kdf: 'scrypt' | 'pbkdf2', password: string | Buffer, key: Hex = KEY, r = 8): Encrypted {
  const salt = randomBytes(32);
  const iv = randomBytes(16);
  const derived =
    kdf === 'scrypt'
      ? scryptSync(password, salt, 32, { N: 1024, r, p: 1 })
      : pbkdf2Sync(password, salt, 5_000, 32, 'sha256');
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv);
  const ciphertext = Buffer.concat([cipher.update(getBytes(key)), cipher.final()]);
  const kdfparams =
    kdf === 'scrypt'
      ? { dklen: 32, n: 1024, p: 1, r, salt: salt.toString('hex') }
      : { c: 5_000, dklen: 32, prf: 'hmac-sha256', salt: salt.toString('hex') };
  const mac = keccak256(Buffer.concat([derived.subarray(16, 32), ciphertext])).slice(2);
  return { kdfparams, iv: iv.toString('hex'), ciphertext: ciphertext.toString('hex'), mac };
}

const ID = '0c7a8a43-7bc6-4d46-8b0e-7a1c6bb7a0b5';

/** Builds a file with the fields that geth, clef, cast and brownie use, in their order. */
function file(kdf: 'scrypt' | 'pbkdf2', password: string | Buffer, key: Hex = KEY) {
  const { kdfparams, iv, ciphertext, mac } = encrypt(kdf, password, key);
  return { cipher: 'aes-128-ctr', ciphertext, cipherparams: { iv }, kdf, kdfparams, mac };
}

const SHAPES: Record<string, (password: string) => string> = {
  'geth and clef': (password) =>
    JSON.stringify({ address: ADDRESS.slice(2), crypto: file('scrypt', password), id: ID, version: 3 }),
  'cast, which leaves the address out': (password) =>
    JSON.stringify({ crypto: file('scrypt', password), id: ID, version: 3 }),
  'brownie and eth_keyfile with pbkdf2': (password) =>
    JSON.stringify({ address: ADDRESS.slice(2), crypto: file('pbkdf2', password), id: ID, version: 3 }),
  'eth_account with a checksummed address': (password) =>
    JSON.stringify({ address: CHECKSUMMED, crypto: file('scrypt', password), id: ID, version: 3 }),
  'MyEtherWallet: Crypto, and names of another case': (password) => {
    const { cipher, ciphertext, cipherparams, kdf, kdfparams, mac } = file('scrypt', password);
    const Crypto = { Cipher: cipher, CipherText: ciphertext, cipherparams, KDF: kdf, KDFParams: kdfparams };
    return JSON.stringify({ version: 3, id: ID, address: ADDRESS.slice(2), Crypto: { ...Crypto, MAC: mac } });
  },
  'upper-case hex with 0x, and the version as text': (password) => {
    const { mac, ciphertext, ...rest } = file('pbkdf2', password);
    const crypto = { ...rest, ciphertext: `0x${ciphertext.toUpperCase()}`, mac: `0x${mac.toUpperCase()}` };
    return JSON.stringify({ version: '3', id: ID, address: `0X${ADDRESS.slice(2).toUpperCase()}`, crypto });
  },
  'an editor of Windows: byte order mark is gone, CRLF stays': (password) =>
    JSON.stringify(
      { address: ADDRESS.slice(2), crypto: file('scrypt', password), id: ID, version: 3 },
      null,
      2,
    )
      .replaceAll('\n', '\r\n')
      .concat('\r\n'),
};

describe.each(Object.entries(SHAPES))('%s', (name, write) => {
  test('opens with its password, and names its address', async () => {
    const text = write('correct horse');
    expect(await decryptKey(text, 'correct horse')).toBe(KEY);
    await expect(decryptKey(text, 'wrong horse')).rejects.toThrow(/does not open/);
    expect(keystoreAddress(text)).toBe(name.startsWith('cast') ? undefined : ADDRESS);
  });
});

test('what this test writes is what ethers opens', async () => {
  for (const kdf of ['scrypt', 'pbkdf2'] as const) {
    const text = JSON.stringify({ address: ADDRESS.slice(2), crypto: file(kdf, 'x'), id: ID, version: 3 });
    expect((await decryptKeystoreJson(text, 'x')).privateKey).toBe(KEY);
  }
});

/** The two examples of the Web3 Secret Storage definition, with their published parameters. */
const DEFINITION = {
  pbkdf2: {
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
      ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
      kdf: 'pbkdf2',
      kdfparams: {
        c: 262144,
        dklen: 32,
        prf: 'hmac-sha256',
        salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
      },
      mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
    },
    id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
    version: 3,
  },
  scrypt: {
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
      ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
      kdf: 'scrypt',
      kdfparams: {
        dklen: 32,
        n: 262144,
        r: 1,
        p: 8,
        salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
      },
      mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
    },
    id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
    version: 3,
  },
};

test.each(['pbkdf2', 'scrypt'] as const)('the example of the definition, %s', async (kdf) => {
  expect(await decryptKey(JSON.stringify(DEFINITION[kdf]), 'testpassword')).toBe(
    '0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d',
  );
});

describe('passwords', () => {
  test.each([
    ['with a newline', 'pass word\n', 'pass word'],
    ['with CRLF', 'pass word\r\n', 'pass word'],
    ['with several newlines', 'pass word\n\n\r\n', 'pass word'],
    ['with white space that cast removes', 'pass word \t\n', 'pass word'],
    ['whose last character is a space', 'pass word \n', 'pass word '],
    ['with a decomposed letter, which geth keeps', 'pa\u0308ss\n', 'pa\u0308ss'],
    ['with a decomposed letter, which ethers composes', 'pa\u0308ss\n', 'p\u00e4ss'],
    ['with a ligature, which geth keeps', '\ufb01sh\n', '\ufb01sh'],
  ])('a file %s', async (_, text, password) => {
    expect(await decryptKey(SHAPES['geth and clef']?.(password) ?? '', text)).toBe(KEY);
  });

  test('a file of this software with a newline inside its password still opens', async () => {
    const text = await encryptKey({ privateKey: KEY, address: ADDRESS }, 'two\n', { n: 1024 });
    expect(await decryptKey(text, 'two\n\n')).toBe(KEY);
  });

  test('error: a file of several lines, as geth reads one for each account', async () => {
    const text = SHAPES['geth and clef']?.('first') ?? '';
    await expect(decryptKey(text, 'first\nsecond\n')).rejects.toThrow(/a password is one line/);
  });
});

describe('a keystore that is odd', () => {
  const good = () => ({
    address: ADDRESS.slice(2),
    crypto: file('scrypt', 'x') as Record<string, unknown>,
    id: ID,
    version: 3 as unknown,
  });

  test('a key whose leading zeros were left out opens', async () => {
    const short = encrypt('scrypt', 'x', `0x${KEY.slice(4)}`);
    const { iv, ...rest } = short;
    const crypto = { cipher: 'aes-128-ctr', cipherparams: { iv }, kdf: 'scrypt', ...rest };
    expect(await decryptKey(JSON.stringify({ ...good(), crypto }), 'x')).toBe(KEY);
  });

  test("error: the address is another key's", async () => {
    const text = JSON.stringify({ ...good(), address: '11'.repeat(20) });
    await expect(decryptKey(text, 'x')).rejects.toThrow(new RegExp(`its key is that of ${ADDRESS}`));
  });

  test.each([
    ['version 1', { ...good(), version: 1 }, /its version is 1/],
    ['a presale wallet', { encseed: 'ab', ethaddr: '00', bkp: '' }, /presale/],
    ["clef's seed", { description: 'Clef seed', version: 0, params: {} }, /no "crypto" section/],
    ['a list', [good()], /no "crypto"|not a JSON object/],
    ['another cipher', { ...good(), crypto: { ...good().crypto, cipher: 'aes-128-cbc' } }, /crypto\.cipher/],
    ['another kdf', { ...good(), crypto: { ...good().crypto, kdf: 'argon2id' } }, /crypto\.kdf/],
    [
      'parameters that would take all memory',
      {
        ...good(),
        crypto: { ...good().crypto, kdfparams: { n: 2 ** 22, r: 64, p: 1, dklen: 32, salt: 'ab' } },
      },
      /crypto\.kdfparams: .*memory/,
    ],
  ])('error: %s', async (_, json, message) => {
    await expect(decryptKey(JSON.stringify(json), 'x')).rejects.toThrow(message);
  });
});
