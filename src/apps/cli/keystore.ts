/** `firmquote keystore`: make an encrypted key, and see whose it is. */

import { createInterface } from 'node:readline/promises';
import { RequestError } from '../../domain/errors.ts';
import { isBytes32, type Hex } from '../../domain/hex.ts';
import { readSecretFile, writeSecretFile } from '../../adapters/keystore/file.ts';
import { encryptKey, keystoreAddress } from '../../adapters/keystore/keystore.ts';
import { createSigner } from '../../adapters/secp256k1/signer.ts';
import { systemRandom } from '../../adapters/system/random.ts';

interface NewOptions {
  passwordFile?: string;
  passwordEnv?: string;
  importEnv?: string;
}

const MIN_PASSWORD = 8;

export async function newKeystore(file: string, { passwordFile, passwordEnv, importEnv }: NewOptions): Promise<void> {
  const imported = importEnv === undefined ? undefined : process.env[importEnv];
  if (importEnv !== undefined && (imported === undefined || !isBytes32(imported))) {
    throw new RequestError(`The variable ${importEnv} does not hold a private key: 0x and 64 hex digits.`, { code: 'keystore' });
  }
  const privateKey = (imported?.toLowerCase() as Hex | undefined) ?? systemRandom.bytes32();
  const password = await findPassword(passwordFile, passwordEnv);
  if (password.length < MIN_PASSWORD) throw new RequestError(`The password is shorter than ${MIN_PASSWORD} characters. Take a longer one.`, { code: 'keystore' });
  const { address } = createSigner(privateKey);
  await writeSecretFile(file, await encryptKey({ privateKey, address }, password));
  console.log(address);
}

export async function printAddress(file: string): Promise<void> {
  const address = keystoreAddress(await readSecretFile(file));
  if (!address) throw new RequestError(`${file} does not say whose key it holds.`, { code: 'keystore' });
  console.log(address);
}

async function findPassword(file: string | undefined, variable: string | undefined): Promise<string> {
  if (file !== undefined) return (await readSecretFile(file)).replace(/\r?\n$/, '');
  if (variable !== undefined) return process.env[variable] ?? '';
  if (!process.stdin.isTTY) throw new RequestError('There is no terminal to ask for the password. Give --password-file or --password-env.', { code: 'keystore' });
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // Readline echoes; what is typed is overwritten once it is entered.
    const password = await terminal.question('Password for the new keystore: ');
    process.stderr.write('\x1b[1A\x1b[2K');
    return password;
  } finally {
    terminal.close();
  }
}
