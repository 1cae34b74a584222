/** Replaces the configuration file as a whole, and never one that was changed in the meantime. */

import { createHash } from 'node:crypto';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { RequestError } from '../../../domain/errors.ts';
import { readConfigText } from '../../config/load.ts';

export const configSha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Throws `RequestError` `config_changed` where the file is not what the LP read. */
export async function requireUnchanged(file: string, text: string): Promise<void> {
  const now = await readConfigText(file).catch(() => undefined);
  if (now === text) return;
  throw new RequestError(
    `${file} is not what the LP read: somebody changed the file and did not reload it. Nothing was written. Run firmquote lp reload, or undo that change, and try again.`,
    { code: 'config_changed' },
  );
}

/**
 * The old file stays until the new one is whole on the disk; a symbolic link stays one. Throws
 * `RequestError`, and then the file is as before.
 */
export async function replaceConfigFile(file: string, text: string, was: string): Promise<void> {
  let draft: string | undefined;
  try {
    const target = await realpath(file);
    const { mode } = await stat(target);
    draft = `${target}.new`;
    await rm(draft, { force: true });
    const written = await open(draft, 'wx', mode & 0o777);
    try {
      await written.chmod(mode & 0o777);
      await written.writeFile(text);
      await written.sync();
    } finally {
      await written.close();
    }
    // As late as possible: an editor may have saved the file while the draft was written.
    await requireUnchanged(file, was);
    await rename(draft, target);
    await syncFolder(dirname(target));
  } catch (error) {
    if (draft !== undefined) await rm(draft, { force: true }).catch(() => {});
    if (error instanceof RequestError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new RequestError(
      `${file} cannot be replaced (${code}), so nothing changed. The user of this process must be allowed to write the file's folder. Where the file is mounted read-only, change it where it is made, then run firmquote lp reload.`,
      { code: 'config_not_writable', cause: error },
    );
  }
}

/** Syncs the folder, because after a power cut it must name the new file. */
async function syncFolder(folder: string): Promise<void> {
  const opened = await open(folder, 'r');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}
