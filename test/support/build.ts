/**
 * Builds the program and the pages of its console before any test, for tests that run it as its users do.
 * Types are checked elsewhere; a file that cannot be built fails here.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
/** The program that tests start, and that ships. */
export const PROGRAM = join(ROOT, 'dist', 'apps/cli/main.js');

export default function build(): void {
  script('build.mjs');
  script('pages.mjs');
}

/**
 * Bundles a program of tests into a folder of its own, so that simultaneous runs do not change each other's.
 * Returns its path, and a function that removes it.
 */
export function bundled(entry: string): { program: string; remove(): void } {
  const home = join(ROOT, 'dist', 'tests');
  mkdirSync(home, { recursive: true });
  const outdir = mkdtempSync(join(home, 'run-'));
  script('build.mjs', entry, outdir);
  return {
    program: join(outdir, 'program.js'),
    remove: () => rmSync(outdir, { recursive: true, force: true }),
  };
}

function script(name: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts', name), ...args], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`scripts/${name} failed:\n${stdout}${stderr}`);
}
