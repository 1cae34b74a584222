/** Refuses paths that another user of this machine could have placed, before anything is read or written. */

import { lstat, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, resolve } from 'node:path';
import { RequestError } from '../../domain/errors.ts';

const OTHERS_MAY_WRITE = 0o022;
const MOST_LINKS = 40;

/**
 * Walks every folder and symbolic link of the path. In a folder that others may write, each entry must belong
 * to this user, to root, to the folder's owner or to one of `users` (uids); elsewhere nobody else can place
 * one. So the operator's own links are followed. What is missing is trusted: create it with O_EXCL. Throws
 * `RequestError` `untrusted_path`.
 */
export async function requireTrustedPath(path: string, users: readonly number[] = []): Promise<void> {
  const me = process.geteuid?.();
  if (me === undefined) return;
  const full = resolve(path);
  const { root } = parse(full);
  let [folder, parent] = [root, await lstat(root)];
  const rest = namesIn(full.slice(root.length));
  for (let links = 0, name = rest.shift(); name !== undefined; name = rest.shift()) {
    const here = name === '..' ? dirname(folder) : join(folder, name);
    const found = await lstat(here).catch(() => undefined);
    if (found === undefined) return;
    const trusted = [me, 0, parent.uid, ...users];
    if (name !== '..' && (parent.mode & OTHERS_MAY_WRITE) !== 0 && !trusted.includes(found.uid))
      throw untrusted(here, found.uid, path);
    if (!found.isSymbolicLink()) {
      [folder, parent] = [here, found];
      continue;
    }
    if ((links += 1) > MOST_LINKS) return;
    const target = await readlink(here);
    rest.unshift(...namesIn(target));
    if (isAbsolute(target)) [folder, parent] = [root, await lstat(root)];
  }
}

const namesIn = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.');

const untrusted = (here: string, uid: number, path: string): RequestError =>
  new RequestError(
    `${here} belongs to another user (uid ${uid}), who could have placed it there, so ${path} is neither ` +
      'read nor written. Remove it, or, if you trust it, make it yours: chown -h "$(id -un)" ' +
      `${here}. Better: use a folder that only you may write.`,
    { code: 'untrusted_path' },
  );
