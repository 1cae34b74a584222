/** A disk of a few megabytes that can be filled and freed. */

import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  path: string;
  /** Until nothing more fits. */
  fill(): Promise<void>;
  free(): Promise<void>;
  remove(): Promise<void>;
}

export async function makeSmallDisk(megabytes: number): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'firmquote-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0777`, 'tmpfs', path], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await chmod(path, 0o777);
  const ballast = join(path, 'ballast');
  return {
    path,
    async fill() {
      const file = await open(ballast, 'a');
      try {
        // Big pieces first, then whatever still fits.
        for (const size of [65_536, 4_096, 1]) {
          const piece = Buffer.alloc(size);
          for (;;) {
            const { bytesWritten } = await file.write(piece).catch(() => ({ bytesWritten: 0 }));
            if (bytesWritten < size) break;
          }
        }
      } finally {
        await file.close();
      }
    },
    free: () => rm(ballast, { force: true }),
    async remove() {
      execFileSync('umount', ['-l', path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}
