/** `firmquote keystore`: creates encrypted keys and shows their addresses. */

import { isBytes32, type Hex } from '../../domain/hex.ts';
import {
  readSecretFile,
  replaceSecretFile,
  withoutLineEnd,
  writeSecretFile,
} from '../../adapters/keystore/file.ts';
import { decryptKey, encryptKey, keystoreAddress } from '../../adapters/keystore/keystore.ts';
import { createSigner } from '../../adapters/secp256k1/signer.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { askSecret } from '../terminal/ask.ts';
import { badRequest } from '../wiring/bad-request.ts';
import { mountedByEnv } from '../wiring/keys.ts';

interface NewOptions {
  passwordFile?: string;
  passwordEnv?: string;
  importEnv?: string;
}

const MIN_PASSWORD = 8;

export async function newKeystore(
  file: string,
  { passwordFile, passwordEnv, importEnv }: NewOptions,
): Promise<void> {
  const imported = importEnv === undefined ? undefined : process.env[importEnv];
  if (importEnv !== undefined && (imported === undefined || !isBytes32(imported))) {
    throw badRequest(`The variable ${importEnv} does not hold a private key: 0x and 64 hex digits.`);
  }
  const privateKey = (imported?.toLowerCase() as Hex | undefined) ?? systemRandom.bytes32();
  const password = await newPassword({
    ...(passwordFile !== undefined && { passwordFile }),
    ...(passwordEnv !== undefined && { passwordEnv }),
  });
  const { address } = createSigner(privateKey);
  await writeSecretFile(file, await encryptKey({ privateKey, address }, password));
  console.log(address);
}

export async function changePassword(
  file: string,
  {
    oldPasswordFile,
    oldPasswordEnv,
    ...fresh
  }: { oldPasswordFile?: string; oldPasswordEnv?: string; passwordFile?: string; passwordEnv?: string },
): Promise<void> {
  const text = await readMounted(file);
  const old =
    oldPasswordFile !== undefined
      ? await readMounted(oldPasswordFile)
      : oldPasswordEnv !== undefined
        ? (process.env[oldPasswordEnv] ?? '')
        : await askSecret('Present password', 'Give --old-password-file or --old-password-env.');
  const privateKey = await decryptKey(text, old);
  const password = await newPassword(fresh);
  const { address } = createSigner(privateKey);
  await replaceSecretFile(file, await encryptKey({ privateKey, address }, password));
  console.log(address);
}

export async function printAddress(file: string): Promise<void> {
  const address = keystoreAddress(await readMounted(file));
  if (!address) throw badRequest(`${file} contains no address.`);
  console.log(address);
}

/**
 * Reads a password from a file or variable; otherwise asks for it twice, because a mistyped password loses
 * the key.
 */
export async function newPassword({
  passwordFile,
  passwordEnv,
}: {
  passwordFile?: string;
  passwordEnv?: string;
}): Promise<string> {
  const password =
    passwordFile !== undefined
      ? withoutLineEnd(await readMounted(passwordFile))
      : passwordEnv !== undefined
        ? (process.env[passwordEnv] ?? '')
        : await typedTwice();
  if (password.length < MIN_PASSWORD)
    throw badRequest(`The password is shorter than ${MIN_PASSWORD} characters. Use a longer one.`);
  return password;
}

async function typedTwice(): Promise<string> {
  const password = await askSecret('New password', 'Give --password-file or --password-env.');
  if ((await askSecret('Once more', '')) !== password)
    throw badRequest('The two passwords differ. Nothing was written.');
  return password;
}

const readMounted = (file: string): Promise<string> =>
  readSecretFile(file, { mounted: mountedByEnv(process.env) });
