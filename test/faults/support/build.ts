/**
 * Before the faults: compiles the program with faults (program.ts), so that it starts as fast as the released
 * one.
 */

import { mkdtempSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/**
 * Its own folder, so that simultaneous runs do not change each other's. Returns a function that removes it.
 */
export default async function buildFaultProgram(): Promise<() => void> {
  const home = join(ROOT, 'dist', 'faults');
  mkdirSync(home, { recursive: true });
  const outdir = mkdtempSync(join(home, 'run-'));
  await build({
    entryPoints: [join(ROOT, 'test/faults/support/program.ts')],
    outdir,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  process.env['FIRMQUOTE_FAULT_PROGRAM'] = join(outdir, 'program.js');
  return () => rmSync(outdir, { recursive: true, force: true });
}
