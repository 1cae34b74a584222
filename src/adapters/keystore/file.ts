/** Keystore files: written once, mode 0600, refused when others could read them. */

import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { requireTrustedPath } from '../system/trusted-path.ts';
import { KeystoreError } from './keystore.ts';

const SECRET_MODE = 0o600;

/** Never overwrites: a lost key is lost money. */
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

/** The open file is checked, so that it cannot be swapped in between. */
export async function readSecretFile(path: string): Promise<string> {
  await requireTrustedPath(path);
  const file = await open(path, 'r').catch((cause: NodeJS.ErrnoException) => {
    const why =
      cause.code === 'ENOENT' ? 'does not exist' : `cannot be read (${cause.code ?? 'unknown error'})`;
    throw new KeystoreError(
      `The secret file ${path} ${why}. Check the path in the configuration and the user of this process.`,
      { cause },
    );
  });
  try {
    const { mode } = await file.stat();
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new KeystoreError(
        `The secret file ${path} can be read by others (mode ${(mode & 0o777).toString(8)}). Run: chmod 600 ${path}`,
      );
    }
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
