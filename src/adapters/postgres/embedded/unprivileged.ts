/** PostgreSQL refuses to run as root: finds another user and what it can access. */

import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UpstreamError } from '../../../domain/errors.ts';

export interface SystemUser {
  name: string;
  uid: number;
  gid: number;
}

export async function unprivilegedUser(): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const passwd = await readFile('/etc/passwd', 'utf8');
  for (const wanted of ['postgres', 'nobody']) {
    const [, , uid, gid] =
      passwd
        .split('\n')
        .find((line) => line.startsWith(`${wanted}:`))
        ?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { name: wanted, uid: Number(uid), gid: Number(gid) };
  }
  throw new UpstreamError(
    'PostgreSQL cannot run as root, and this system has no user "postgres" or "nobody". Add one, or ' +
      'set DATABASE_URL to your own server.',
    { code: 'database_unavailable' },
  );
}

export async function isReachable(path: string, user: SystemUser): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode, uid, gid } = await stat(folder);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}
