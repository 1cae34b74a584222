/** Private keys at rest: Web3 Secret Storage v3 with scrypt, as in geth and ethers. */

import {
  createCipheriv,
  createDecipheriv,
  randomBytes,
  randomUUID,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';
import { z } from 'zod';
import { RequestError } from '../../domain/errors.ts';
import { bytesToHex, hexToBytes, type Address, type Hex } from '../../domain/hex.ts';
import { keccakBytes } from '../../domain/keccak.ts';

const zHexText = (bytes?: number) =>
  z.string().regex(bytes === undefined ? /^(?:[0-9a-fA-F]{2})+$/ : new RegExp(`^[0-9a-fA-F]{${bytes * 2}}$`));

const zKeystore = z.object({
  version: z.literal(3),
  address: z
    .string()
    .regex(/^(?:0x)?[0-9a-fA-F]{40}$/)
    .optional(),
  crypto: z.object({
    cipher: z.literal('aes-128-ctr'),
    cipherparams: z.object({ iv: zHexText(16) }),
    ciphertext: zHexText(32),
    kdf: z.literal('scrypt'),
    kdfparams: z.object({
      // Bounds keep a hostile file from eating all memory: scrypt needs 128 * n * r bytes.
      n: z
        .int()
        .min(2)
        .max(1 << 20)
        .refine((n) => (n & (n - 1)) === 0, 'must be a power of two'),
      r: z.int().min(1).max(32),
      p: z.int().min(1).max(16),
      dklen: z.literal(32),
      salt: zHexText(),
    }),
    mac: zHexText(32),
  }),
});

/** 2^17 takes half a second and 128 MB, as in ethers and geth. */
const DEFAULT_SCRYPT_N = 1 << 17;

export async function encryptKey(
  key: { privateKey: Hex; address: Address },
  password: string,
  { n = DEFAULT_SCRYPT_N } = {},
): Promise<string> {
  const salt = randomBytes(32);
  const iv = randomBytes(16);
  const derived = await derive(password, salt, { N: n, r: 8, p: 1 });
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

/** Throws `KeystoreError` without saying whether the file or the password is wrong. */
export async function decryptKey(text: string, password: string): Promise<Hex> {
  const { crypto } = parse(text);
  const { n, r, p, salt } = crypto.kdfparams;
  const derived = await derive(password, Buffer.from(salt, 'hex'), { N: n, r, p });
  const ciphertext = Buffer.from(crypto.ciphertext, 'hex');
  if (!timingSafeEqual(macOf(derived, ciphertext), Buffer.from(crypto.mac, 'hex'))) {
    throw new KeystoreError(
      'The keystore does not open with this password. Check the password file or variable that the configuration names.',
    );
  }
  const decipher = createDecipheriv(
    'aes-128-ctr',
    derived.subarray(0, 16),
    Buffer.from(crypto.cipherparams.iv, 'hex'),
  );
  return bytesToHex(Buffer.concat([decipher.update(ciphertext), decipher.final()]));
}

export function keystoreAddress(text: string): Address | undefined {
  const { address } = parse(text);
  return address === undefined ? undefined : `0x${address.replace(/^0x/, '').toLowerCase()}`;
}

function parse(text: string): z.infer<typeof zKeystore> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new KeystoreError('The keystore file is not JSON. Restore it from its backup.', { cause });
  }
  // Some wallets write "Crypto".
  const crypto = typeof json === 'object' && json !== null && 'Crypto' in json ? json.Crypto : undefined;
  const parsed = zKeystore.safeParse(crypto === undefined ? json : { ...(json as object), crypto });
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new KeystoreError(
    `The file is not a Web3 Secret Storage v3 keystore with scrypt (at "${where}"). Create one with: firmquote keystore new FILE.`,
  );
}

function macOf(derived: Buffer, ciphertext: Buffer): Buffer {
  return Buffer.from(keccakBytes(Buffer.concat([derived.subarray(16, 32), ciphertext])));
}

function derive(password: string, salt: Buffer, cost: { N: number; r: number; p: number }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const maxmem = 128 * cost.N * cost.r + 128 * cost.r * cost.p + (1 << 20);
    scrypt(password.normalize('NFKC'), salt, 32, { ...cost, maxmem }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

export class KeystoreError extends RequestError {
  constructor(message: string, { cause }: { cause?: unknown } = {}) {
    super(message, { code: 'keystore', ...(cause === undefined ? {} : { cause }) });
  }
}
