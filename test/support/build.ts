/**
 * Before any test: the compiled program and the pages of its console, for tests that run it as its users do.
 * Types are checked elsewhere; a file that cannot be emitted fails here.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
export const DIST = join(ROOT, 'dist');
const COMPILED = join(DIST, 'apps/cli/main.js');
/** What tests start: the bundle (bundle.ts) where the run has made one. */
export const PROGRAM = process.env['FIRMQUOTE_TEST_PROGRAM'] ?? COMPILED;

export default function build(): void {
  const { stdout } = spawnSync(
    process.execPath,
    [
      join(ROOT, 'node_modules/typescript/bin/tsc'),
      '-p',
      'tsconfig.build.json',
      '--noCheck',
      '--declaration',
      'false',
    ],
    { cwd: ROOT, encoding: 'utf8' },
  );
  if (!existsSync(COMPILED)) throw new Error(`The program could not be compiled:\n${stdout}`);
  const pages = spawnSync(process.execPath, [join(ROOT, 'scripts/pages.mjs')], { encoding: 'utf8' });
  if (pages.status !== 0) throw new Error(`The console could not be built:\n${pages.stdout}${pages.stderr}`);
}
