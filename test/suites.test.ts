/**
 * The lists by which test files are chosen: they name files that exist, and forget none that needs a program.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const { PROGRAMS } = (await import(join(ROOT, 'scripts/programs.mjs'))) as {
  PROGRAMS: { name: string; tests: string[] }[];
};
const FILES = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`),
);
/** What a test that starts the program has in its text. */
const STARTS: Readonly<Record<string, RegExp>> = {
  'redis-server': /\/support\/redis\.ts'/,
  'chromium-headless-shell': /\/support\/browser\.ts'|from 'playwright-core'/,
  pgbouncer: /\/support\/pgbouncer\.ts'/,
  promtool: /\('promtool'/,
  prometheus: /\/alerts\/prometheus\.ts'|\n\s+'prometheus',/,
  amtool: /\('amtool'/,
  'prometheus-alertmanager': /\n\s+'prometheus-alertmanager',/,
  ...Object.fromEntries(
    ['nginx', 'haproxy', 'openssl'].map((name) => [name, /\/support\/reverse-proxy\.ts'/]),
  ),
};

test.each(PROGRAMS)('$name: its list has every test that starts it, and no file that is gone', (program) => {
  expect(program.tests.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  const pattern = STARTS[program.name];
  if (pattern === undefined) throw new Error(`STARTS has no pattern for ${program.name}`);
  const others = FILES.filter((name) => name !== 'test/suites.test.ts');
  const starting = others.filter((name) => pattern.test(readFileSync(join(ROOT, name), 'utf8')));
  expect(starting.length).toBeGreaterThan(0);
  expect(starting.filter((name) => !program.tests.includes(name))).toEqual([]);
});
