/** docs/reference/abuse.md names every abuse that we know, and for each a test that is there and says so. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const IDS = Array.from({ length: 50 }, (_, n) => `A${n + 1}`);

/** Ids that titles of tests begin with, such as `A1, A2: no key …`. */
const namedIn = (source: string): Set<string> =>
  new Set(
    [...source.matchAll(/\b(?:test|describe)(?:\.concurrent)?(?:\.each)?\b|\]\)\(/g)].flatMap(
      ({ index }) =>
        /['"`]((?:A\d+, )*A\d+): /.exec(source.slice(index, index + 400))?.[1]?.split(', ') ?? [],
    ),
  );

test('the abuse page lists every abuse in order, with its defence and tests named after its id', async () => {
  const page = await readFile(join(ROOT, 'docs', 'reference', 'abuse.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (A\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(
    ([, id = '', tried = '', defence = '', files = '']) => ({
      id,
      tried,
      defence,
      files: files.trim().split(', '),
    }),
  );
  expect(rows.map(({ id }) => id)).toEqual(IDS);
  for (const { id, files } of rows) {
    for (const file of files)
      expect([id, file, namedIn(await readFile(join(ROOT, file), 'utf8')).has(id)]).toEqual([id, file, true]);
  }
});

test('every abuse test has a row on the page', async () => {
  const page = await readFile(join(ROOT, 'docs', 'reference', 'abuse.md'), 'utf8');
  for (const name of ['abuse/edge', 'long/abuse/submissions', 'abuse/sockets', 'abuse/hostile']) {
    const file = `test/${name}.test.ts`;
    for (const id of namedIn(await readFile(join(ROOT, file), 'utf8')))
      expect([file, id, IDS.includes(id) && page.includes(`| ${id} |`)]).toEqual([file, id, true]);
  }
});
