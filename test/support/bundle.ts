/**
 * Before tests that start many processes: the program as a few files. A process that loads one file for each
 * module spends twice the CPU until it runs. `test:package`, `test:walkthrough` and `rehearse` start the
 * program as it ships.
 */

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import buildAll from './build.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Libraries of many small modules. The others stay outside, because some load files or binaries by path. */
const INSIDE = new Set(['viem', 'zod', '@noble/curves']);

/**
 * Bundles a program into a folder of its own, so that simultaneous runs do not change each other's. Returns
 * its path, and a function that removes it.
 */
export async function bundled(entry: string): Promise<{ program: string; remove(): void }> {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'optionalDependencies', Record<string, string>>;
  const outside = Object.keys({ ...dependencies, ...optionalDependencies }).filter(
    (name) => !INSIDE.has(name),
  );
  const home = join(ROOT, 'dist', 'tests');
  mkdirSync(home, { recursive: true });
  // As deep as the compiled files, which find others by their own place.
  const outdir = mkdtempSync(join(home, 'run-'));
  await build({
    entryPoints: { program: join(ROOT, entry) },
    outdir,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    keepNames: true,
    external: outside,
    logLevel: 'warning',
  });
  return {
    program: join(outdir, 'program.js'),
    remove: () => rmSync(outdir, { recursive: true, force: true }),
  };
}

export default async function bundle(): Promise<() => void> {
  buildAll();
  const { program, remove } = await bundled('src/apps/cli/main.ts');
  process.env['FIRMQUOTE_TEST_PROGRAM'] = program;
  return remove;
}
