/**
 * Whoever starts an LP without our code says the same as our code; what may only be said by code is, before
 * anything of an LP is loaded.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { PROGRAM } from '../../../test/support/build.ts';
import { LP_NODE_OPTIONS } from './node-options.ts';

const textOf = (path: string) => readFileSync(resolve(import.meta.dirname, '../../..', path), 'utf8');

test('npm run firmquote, compose.yaml and the docs start an LP as the demo does', () => {
  expect(textOf('scripts/run.mjs')).toContain(`LP_NODE_OPTIONS = ['${LP_NODE_OPTIONS.join("', '")}']`);
  expect(textOf('compose.yaml')).toContain(`NODE_OPTIONS: ${LP_NODE_OPTIONS.join(' ')}\n`);
  expect(textOf('docs/venue/scaling.md')).toContain(`NODE_OPTIONS="${LP_NODE_OPTIONS.join(' ')}"\``);
});

test('an LP is compiled when it is loaded, not when its first request comes', () => {
  const compiled = compiledBytes(
    `(await import('./lp/node-options.js')).compileAhead(); await import('./lp/main.js');`,
  );
  expect(compiled).toBeGreaterThan(2 * compiledBytes(`await import('./lp/main.js');`));
  // Nothing of it may be loaded before that.
  expect(textOf('src/apps/cli/lp/lp.ts')).toMatch(
    /compileAhead\(\);\s+await \(await import\('\.\.\/lp\/main\.ts'\)\)/,
  );
});

/** What V8 holds of compiled functions after some code in a process of its own. */
function compiledBytes(code: string): number {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      '--expose-gc',
      '--input-type=module',
      '-e',
      `${code} gc(); console.log('compiled', (await import('node:v8')).getHeapCodeStatistics().bytecode_and_metadata_size);`,
    ],
    { encoding: 'utf8', cwd: dirname(dirname(PROGRAM)) },
  );
  const [, bytes] = /compiled (\d+)/.exec(stdout) ?? [];
  if (bytes === undefined) throw new Error(`It said nothing of its code: ${stdout}${stderr}`);
  return Number(bytes);
}
