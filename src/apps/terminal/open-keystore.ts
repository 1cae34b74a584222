/** Opens a keystore named on the command line; its password comes from a file, a variable or the terminal. */

import type { Signer } from '../../ports/signer.ts';
import { openLocalSigner, type SecretContext } from '../wiring/keys.ts';
import { askSecret } from './ask.ts';

/** Opens a keystore. `question` is the prompt, `instead` the advice when there is no terminal. */
export async function openKeystore(
  {
    keystore,
    passwordFile,
    passwordEnv,
  }: { keystore: string; passwordFile: string | undefined; passwordEnv: string | undefined },
  secrets: SecretContext,
  { question, instead }: { question: string; instead: string },
): Promise<Signer> {
  if (passwordFile !== undefined) return openLocalSigner({ keystore, passwordFile }, secrets);
  if (passwordEnv !== undefined) return openLocalSigner({ keystore, passwordEnv }, secrets);
  const password = await askSecret(question, instead);
  return openLocalSigner({ keystore, passwordEnv: 'PASSWORD' }, { ...secrets, env: { PASSWORD: password } });
}
