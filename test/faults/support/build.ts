/**
 * Before the faults: the program that can be made to fail (program.ts), compiled, so that it starts as fast
 * as the one that ships.
 */

import { mkdtempSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** In a folder of its own, so that runs side by side do not change each other's. Returns how to remove it. */
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
