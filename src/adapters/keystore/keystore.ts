/**
 * Private keys at rest: Web3 Secret Storage v3. Written with scrypt; read as geth, clef, cast, brownie,
 * ethers and other tools write it. Not with the `Keystore` of ox, which opens five of the seven shapes in
 * foreign.test.ts, and blocks the event loop for 1.0 s of CPU where a thread takes 0.4 s.
 */

import {
  createCipheriv,
  createDecipheriv,
  pbkdf2,
  randomBytes,
  randomUUID,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';
import { promisify } from 'node:util';
import { scrypt as portableScrypt } from 'hash-wasm';
import * as z from 'zod';
import { bytesToHex, hexToBytes, type Address, type Hex } from '../../domain/hex.ts';
import { keccakBytes } from '../../domain/keccak.ts';
import { createSigner } from '../secp256k1/signer.ts';
import { KeystoreError } from './keystore-error.ts';
import { withoutLineEnd } from './file.ts';

/** Some tools write 0x before hex. */
const zHexText = (bytes?: number) =>
  z
    .string()
    .regex(new RegExp(`^(?:0x)?(?:[0-9a-fA-F]{2})${bytes === undefined ? '+' : `{${bytes}}`}$`))
    .transform((text) => Buffer.from(text.replace(/^0x/, ''), 'hex'));

const zLower = <V extends string>(value: V) => z.string().toLowerCase().pipe(z.literal(value));
/** The first 32 bytes are used. A longer derived key begins with the same ones. */
const zDerivedLength = z.int().min(32).max(1_024);

/** Bounds keep a hostile file from eating all memory and time. */
const MOST_SCRYPT_BYTES = 2 ** 30;
const MOST_PBKDF2_ROUNDS = 20_000_000;

const zScrypt = z
  .object({
    n: z
      .int()
      .min(2)
      .max(2 ** 24)
      .refine((n) => (n & (n - 1)) === 0, 'must be a power of two'),
    r: z.int().min(1).max(64),
    p: z.int().min(1).max(64),
    dklen: zDerivedLength,
    salt: zHexText(),
  })
  .refine(({ n, r }) => 128 * n * r <= MOST_SCRYPT_BYTES, 'would take more than 1 GB of memory');

const zPbkdf2 = z.object({
  c: z.int().min(1).max(MOST_PBKDF2_ROUNDS),
  prf: zLower('hmac-sha256'),
  dklen: zDerivedLength,
  salt: zHexText(),
});

const zEncrypted = {
  cipher: zLower('aes-128-ctr'),
  cipherparams: z.object({ iv: zHexText(16) }),
  /** Old tools left out the leading zeros of a key. */
  ciphertext: zHexText().refine(({ length }) => length <= 32, 'is longer than a key'),
  mac: zHexText(32),
};

const zKeystore = z.object({
  version: z.union([z.literal(3), z.literal('3')]),
  address: z
    .string()
    .regex(/^(?:0x)?[0-9a-fA-F]{40}$/i)
    .optional(),
  crypto: z.union([
    z.object({ ...zEncrypted, kdf: zLower('scrypt'), kdfparams: zScrypt }),
    z.object({ ...zEncrypted, kdf: zLower('pbkdf2'), kdfparams: zPbkdf2 }),
  ]),
});
type Encrypted = z.infer<typeof zKeystore>['crypto'];

/** 2^17 takes half a second and 128 MB, as in ethers and geth. */
const DEFAULT_SCRYPT_N = 1 << 17;

export async function encryptKey(
  key: { privateKey: Hex; address: Address },
  password: string,
  { n = DEFAULT_SCRYPT_N } = {},
): Promise<string> {
  const salt = randomBytes(32);
  const iv = randomBytes(16);
  const derived = await derive(password.normalize('NFKC'), {
    kdf: 'scrypt',
    kdfparams: { n, r: 8, p: 1, salt },
  });
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv);
  const ciphertext = Buffer.concat([cipher.update(hexToBytes(key.privateKey)), cipher.final()]);
  return JSON.stringify({
    version: 3,
    id: randomUUID(),
    address: key.address.slice(2).toLowerCase(),
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: iv.toString('hex') },
      ciphertext: ciphertext.toString('hex'),
      kdf: 'scrypt',
      kdfparams: { n, r: 8, p: 1, dklen: 32, salt: salt.toString('hex') },
      mac: macOf(derived, ciphertext).toString('hex'),
    },
  });
}

/**
 * Decrypts a key. `password` is as a person types it, or the text of a password file: see `passwordsOf`.
 * Throws `KeystoreError`, without saying whether the file or the password is wrong.
 */
export async function decryptKey(text: string, password: string): Promise<Hex> {
  const keystore = parse(text);
  for (const each of passwordsOf(password)) {
    const privateKey = await open(keystore.crypto, each);
    if (privateKey === undefined) continue;
    requireAddress(keystore.address, privateKey);
    return privateKey;
  }
  const lines = password.split(/\r\n|\r|\n/).length;
  throw new KeystoreError(
    `The keystore does not open with this password. Check the password file or variable that the configuration names.${lines > 1 ? ` It has ${lines} lines; a password is one line.` : ''}`,
  );
}

/**
 * Lists the passwords that a text may mean, likeliest first. geth and clef take a file's line as it is, cast
 * removes white space at its end, ethers and this software normalise it (NFKC), the others do not.
 */
function passwordsOf(text: string): string[] {
  const line = withoutLineEnd(text);
  const spellings = [line, text.replace(/\r?\n$/, ''), line.trimEnd()];
  return [...new Set(spellings.flatMap((spelling) => [spelling.normalize('NFKC'), spelling]))];
}

/** Decrypts with one password; undefined: it is another one. */
async function open(crypto: Encrypted, password: string): Promise<Hex | undefined> {
  const derived = await derive(password, crypto);
  if (!timingSafeEqual(macOf(derived, crypto.ciphertext), crypto.mac)) return undefined;
  const decipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), crypto.cipherparams.iv);
  const key = Buffer.concat([decipher.update(crypto.ciphertext), decipher.final()]);
  return bytesToHex(Buffer.concat([Buffer.alloc(32 - key.length), key]));
}

/** The address is read without the password, so a wrong one would be believed. */
function requireAddress(named: string | undefined, privateKey: Hex): void {
  const { address } = createSigner(privateKey);
  if (named === undefined || addressOf(named) === address) return;
  throw new KeystoreError(
    `The keystore names the address ${addressOf(named)}, but its key is that of ${address}: the file was edited or mixed up. Restore it from its backup, or correct the address.`,
  );
}

/** undefined where the file does not name it, as files of cast do not. */
export function keystoreAddress(text: string): Address | undefined {
  const { address } = parse(text);
  return address === undefined ? undefined : addressOf(address);
}

const addressOf = (named: string): Address => `0x${named.replace(/^0x/i, '').toLowerCase()}`;

function parse(text: string): z.infer<typeof zKeystore> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new KeystoreError('The keystore file is not JSON. Restore it from its backup.', { cause });
  }
  const lower = lowerNames(json);
  const parsed = zKeystore.safeParse(lower);
  if (parsed.success) return parsed.data;
  throw new KeystoreError(
    `The file is not a Web3 Secret Storage v3 keystore: ${oddityOf(lower, parsed.error)}. Create one with: firmquote keystore new FILE.`,
  );
}

/** Tools write "crypto" and "Crypto", "kdfparams" and "KDFParams". */
function lowerNames(json: unknown): unknown {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return json;
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [name.toLowerCase(), lowerNames(value)]),
  );
}

function oddityOf(json: unknown, error: z.ZodError): string {
  if (typeof json !== 'object' || json === null) return 'it is not a JSON object';
  if ('encseed' in json) return 'it is a wallet of the Ethereum presale';
  if (!('crypto' in json)) return 'it has no "crypto" section';
  if ('version' in json && String(json.version) !== '3') return `its version is ${String(json.version)}`;
  const issues = error.issues.flatMap(innermost).sort((a, b) => b.path.length - a.path.length);
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`)[0] ?? 'it cannot be read';
}

/** Returns the issues of the union branch that fits best. */
function innermost(issue: z.core.$ZodIssue): { path: PropertyKey[]; message: string }[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue];
  const [best = []] = [...issue.errors].sort((a, b) => a.length - b.length);
  return best.map(({ path, message }) => ({ path: [...issue.path, ...path], message }));
}

function macOf(derived: Buffer, ciphertext: Buffer): Buffer {
  return Buffer.from(keccakBytes(Buffer.concat([derived.subarray(16, 32), ciphertext])));
}

type KeyDerivation =
  | { kdf: 'scrypt'; kdfparams: { n: number; r: number; p: number; salt: Buffer } }
  | { kdf: 'pbkdf2'; kdfparams: { c: number; salt: Buffer } };

/** Derives the key in a thread of its own, except where only hash-wasm takes the parameters. */
async function derive(password: string, { kdf, kdfparams }: KeyDerivation): Promise<Buffer> {
  if (kdf === 'pbkdf2') return promisify(pbkdf2)(password, kdfparams.salt, kdfparams.c, 32, 'sha256');
  const { n: N, r, p, salt } = kdfparams;
  if (Math.log2(N) < 16 * r) {
    const maxmem = 128 * N * r + 128 * r * p + (1 << 20);
    return promisify<Buffer>((done) => scrypt(password, salt, 32, { N, r, p, maxmem }, done))();
  }
  // OpenSSL follows RFC 7914, which excludes them. Old tools and the definition's own example use them.
  const wanted = { password, salt, costFactor: N, blockSize: r, parallelism: p, hashLength: 32 };
  return Buffer.from(await portableScrypt({ ...wanted, outputType: 'binary' }));
}
