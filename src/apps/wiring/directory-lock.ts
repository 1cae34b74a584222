/**
 * Allows one process per data directory. proper-lockfile, with three dependencies, would replace 40 lines. It
 * tells a dead owner by the age of the lock (10 s), so a restart after a crash would wait or fail; the
 * process id here tells at once.
 */

import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { requireTrustedPath } from '../../adapters/system/trusted-path.ts';
import { RequestError } from '../../domain/errors.ts';

/** Makes the directory. Returns a function that releases the lock. Takes over a dead process's lock. */
export async function lockDirectory(dir: string): Promise<() => Promise<void>> {
  const path = join(dir, 'lock');
  await requireTrustedPath(path);
  await mkdir(dir, { recursive: true });
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const file = await open(path, 'wx', 0o600);
      await file.writeFile(`${process.pid} ${await startOf(process.pid)}`);
      await file.close();
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const [owner = '', since = ''] = (await readFile(path, 'utf8').catch(() => '')).split(' ');
    // The same pid may be another process now, as in containers.
    if (isAlive(Number(owner)) && (await startOf(Number(owner))) === since) break;
    await rm(path, { force: true });
  }
  throw new RequestError(
    `The data directory ${dir} is in use by another firmquote process. Stop that process or use another directory.`,
    { code: 'data_dir_in_use' },
  );
}

async function startOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
