/** Whoever starts an LP without our code says the same as our code. */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { LP_NODE_OPTIONS } from './node-options.ts';

const textOf = (path: string) => readFileSync(resolve(import.meta.dirname, '../../..', path), 'utf8');

test('npm run firmquote, compose.yaml and the docs start an LP as the demo does', () => {
  expect(textOf('scripts/run.mjs')).toContain(`LP_NODE_OPTIONS = ['${LP_NODE_OPTIONS.join("', '")}']`);
  expect(textOf('compose.yaml')).toContain(`NODE_OPTIONS: ${LP_NODE_OPTIONS.join(' ')}\n`);
  expect(textOf('docs/scaling.md')).toContain(`NODE_OPTIONS="${LP_NODE_OPTIONS.join(' ')}"\``);
});
