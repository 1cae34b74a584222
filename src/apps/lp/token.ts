/** The admin API's token: keeps out other users of this machine. */

import { access } from 'node:fs/promises';
import { readSecretFile, type SecretFileOptions, writeSecretFile } from '../../adapters/keystore/file.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { SecretError } from '../wiring/keys.ts';

/** Created at the first start. Reading this file means control of the LP. */
export async function makeAdminToken(file: string, options: SecretFileOptions = {}): Promise<string> {
  const fresh = await access(file).then(
    () => false,
    () => true,
  );
  if (fresh) await writeSecretFile(file, systemRandom.bytes32().slice(2));
  return readAdminToken(file, options);
}

export async function readAdminToken(file: string, options: SecretFileOptions = {}): Promise<string> {
  const token = (await readSecretFile(file, options)).trim();
  if (token.length < 32)
    throw new SecretError(
      `The token in ${file} is too short to be safe. Remove the file: the LP creates a new one at its next start.`,
    );
  return token;
}
