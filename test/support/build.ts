/**
 * Before any test: the compiled program, for tests that run it as its users do. Types are checked elsewhere;
 * a file that cannot be emitted fails here.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
export const PROGRAM = join(ROOT, 'dist/apps/cli/main.js');

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
  if (!existsSync(PROGRAM)) throw new Error(`The program could not be compiled:\n${stdout}`);
}
