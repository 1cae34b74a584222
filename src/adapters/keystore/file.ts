/** Secret files: written once, mode 0600, refused when others could read or change them. */

import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { decodeText } from '../system/text-file.ts';
import { requireTrustedPath } from '../system/trusted-path.ts';
import { KeystoreError } from './keystore-error.ts';

const SECRET_MODE = 0o600;
const OTHERS_MAY_USE = 0o077;
const OTHERS_MAY_WRITE = 0o022;

/** Writes a new file and never overwrites one: a lost key is lost money. */
export async function writeSecretFile(path: string, text: string): Promise<void> {
  await requireTrustedPath(path);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, SECRET_MODE).catch(
    (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EEXIST')
        throw new KeystoreError(`${path} exists already and is never overwritten. Choose another name.`);
      throw new KeystoreError(
        `${path} cannot be written (${cause.code ?? 'unknown error'}). Choose a folder that this user may write.`,
        { cause },
      );
    },
  );
  try {
    await file.chmod(SECRET_MODE);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The old file stays readable until the new one is whole on the disk. */
export async function replaceSecretFile(path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  await writeSecretFile(draft, text);
  await rename(draft, path);
}

/**
 * `mounted: true`: a platform such as Docker or Kubernetes made the file, often with mode 0440 or 0444
 * that cannot be changed; others may read it, but only its owner may write it. Absent: a file that this
 * software made.
 */
export interface SecretFileOptions {
  mounted?: boolean;
}

/** The open file is checked, so that it cannot be swapped in between. Throws `KeystoreError`. */
export async function readSecretFile(path: string, { mounted }: SecretFileOptions = {}): Promise<string> {
  await requireTrustedPath(path);
  const file = await open(path, 'r').catch((cause: NodeJS.ErrnoException) => {
    const why =
      cause.code === 'ENOENT' ? 'does not exist' : `cannot be read (${cause.code ?? 'unknown error'})`;
    throw new KeystoreError(
      `The secret file ${path} ${why}. Check the path in the configuration and the user of this process.${mounted && cause.code === 'EACCES' ? ' On Kubernetes, set securityContext.fsGroup to a group of this process.' : ''}`,
      { cause },
    );
  });
  try {
    const stat = await file.stat();
    if (stat.isDirectory())
      throw new KeystoreError(`The secret file ${path} is a folder. Name the file inside it.`);
    if (process.platform !== 'win32') requireMode(path, stat.mode & 0o777, mounted);
    return decodeText(await file.readFile(), `The secret file ${path}`);
  } finally {
    await file.close();
  }
}

function requireMode(path: string, mode: number, mounted: boolean | undefined): void {
  if (mounted === true) {
    if ((mode & OTHERS_MAY_WRITE) === 0) return;
    throw new KeystoreError(
      `The secret file ${path} can be changed by others (mode ${mode.toString(8)}). Mount it with mode 0440 or 0444 (Kubernetes: defaultMode: 0440; Docker: mode: 0440).`,
    );
  }
  if ((mode & OTHERS_MAY_USE) === 0) return;
  throw new KeystoreError(
    `The secret file ${path} can be read by others (mode ${mode.toString(8)}). Run: chmod 600 ${path}${
      mounted === undefined
        ? ''
        : ' If Docker or Kubernetes mounts it, so that its mode cannot be changed: set secrets.mounted to true in the configuration, or FIRMQUOTE__SECRETS__MOUNTED=true.'
    }`,
  );
}

/** Editors and `echo` end files with newlines that are not part of the secret. */
export const withoutLineEnd = (text: string): string => text.replace(/[\r\n]+$/, '');
