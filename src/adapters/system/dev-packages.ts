/**
 * Packages that only local chains need: anvil and contracts of other projects. An installed firmquote does
 * not carry their 60 MB, since a venue or an LP never uses them. The demo and the certification install them
 * once per user, at the versions that this release was tested with.
 */

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { UpstreamError } from '../../domain/errors.ts';
import { PACKAGE_FOLDER, VERSION } from './version.ts';

const NAMES = ['@foundry-rs/anvil', '@uniswap/v2-core', '@uniswap/v3-core'] as const;
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

/** Installs what is missing, with npm. `say` is told before, since it may take a minute. */
export async function ensureDevPackages(say: (line: string) => void): Promise<void> {
  if (NAMES.every((name) => isThere(`${name}/package.json`))) return;
  const folder = cacheFolder();
  const { devDependencies } = JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const dependencies = Object.fromEntries(NAMES.map((name) => [name, devDependencies[name]]));
  say(`Installing anvil and Uniswap's contracts for local chains into ${folder}, once …`);
  // Under a name of its own until it is whole, so that a broken installation is never used.
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  await writeFile(join(unfinished, 'package.json'), JSON.stringify({ private: true, dependencies }));
  try {
    await npmInstall(unfinished);
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

async function npmInstall(folder: string): Promise<void> {
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
      `npm could not install the packages for local chains (${NAMES.join(', ')}): ${failure}. Check the connection to your npm registry and start again, or add them to your project with npm install.`,
      { code: 'dev_packages' },
    );
}
