/** One process a data directory: two would write over each other. */

import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RequestError } from '../domain/errors.ts';

/** Answers with how to give the lock back. A lock whose owner is gone is taken over. */
export async function lockDirectory(dir: string): Promise<() => Promise<void>> {
  const path = join(dir, 'lock');
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
    // The same number may be another process by now: in a container it nearly always is.
    if (isAlive(Number(owner)) && (await startOf(Number(owner))) === since) break;
    await rm(path, { force: true });
  }
  throw new RequestError(
    `The data directory ${dir} is in use by another firmquote process. Stop that one, or give this one a directory of its own.`,
    { code: 'data_dir_in_use' },
  );
}

/** When a process started, in the system's own ticks; '-' where the system does not tell. */
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
