/** Reads configured keys and secrets. Every secret read is registered for redaction. */

import { RequestError } from '../../domain/errors.ts';
import { isBytes32, type Hex } from '../../domain/hex.ts';
import type { Signer } from '../../ports/signer.ts';
import { readSecretFile, withoutLineEnd } from '../../adapters/keystore/file.ts';
import { decryptKey } from '../../adapters/keystore/keystore.ts';
import type { Redactor } from '../../adapters/pino/redact.ts';
import { createSigner } from '../../adapters/secp256k1/signer.ts';
import type { LocalKeySource, SecretSource } from '../config/parts.ts';

export interface SecretContext {
  env: NodeJS.ProcessEnv;
  redactor: Redactor;
  /** Secret files are mounted by a platform: others may read them. */
  mounted: boolean;
}

/** Reads the variable that overrides `secrets.mounted` in a configuration, for commands that read none. */
export const mountedByEnv = (env: NodeJS.ProcessEnv): boolean =>
  env['FIRMQUOTE__SECRETS__MOUNTED'] === 'true';

export async function openLocalSigner(source: LocalKeySource, context: SecretContext): Promise<Signer> {
  const privateKey = await readPrivateKey(source, context);
  context.redactor.hide(privateKey.slice(2));
  return createSigner(privateKey);
}

async function readPrivateKey(source: LocalKeySource, context: SecretContext): Promise<Hex> {
  if ('env' in source) {
    const text = fromEnv(source.env, context.env);
    if (!isBytes32(text))
      throw new SecretError(`The variable ${source.env} does not hold a private key: 0x and 64 hex digits.`);
    return text.toLowerCase() as Hex;
  }
  const keystore = await readSecretFile(source.keystore, context);
  const password =
    'passwordFile' in source
      ? await readSecretFile(source.passwordFile, context)
      : fromEnv(source.passwordEnv, context.env);
  context.redactor.hide(withoutLineEnd(password));
  return decryptKey(keystore, password);
}

export async function openSecret(source: SecretSource, context: SecretContext): Promise<string> {
  const text = withoutLineEnd(
    'file' in source ? await readSecretFile(source.file, context) : fromEnv(source.env, context.env),
  );
  context.redactor.hide(text);
  if (text.length < 32)
    throw new SecretError(
      `The secret in ${'file' in source ? source.file : source.env} is too short to be safe. Make one with: openssl rand -hex 32`,
    );
  return text;
}

export function expand(text: string, { env, redactor }: SecretContext): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = fromEnv(name, env);
    redactor.hide(value);
    return value;
  });
}

function fromEnv(name: string, env: NodeJS.ProcessEnv): string {
  const value = env[name];
  if (value === undefined || value === '')
    throw new SecretError(
      `The configuration takes a value from the variable ${name}, which is not set. Set it for this process.`,
    );
  return value;
}

export class SecretError extends RequestError {
  constructor(message: string) {
    super(message, { code: 'secret' });
  }
}
