/** docs/reference/threats.md gives every row a bound, an outcome and a test that exists. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

test('every threat has a bound, an outcome, and tests that exist', () => {
  const page = readFileSync(join(ROOT, 'docs', 'reference', 'threats.md'), 'utf8');
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| Who '))
    .map((line) =>
      line
        .slice(1, -1)
        .split(' | ')
        .map((cell) => cell.trim()),
    );
  expect(rows.length).toBeGreaterThan(20);
  for (const row of rows) {
    expect([row, row.length, row.every((cell) => cell !== '')]).toEqual([row, 5, true]);
    for (const file of (row[4] ?? '').split(', '))
      expect([file, existsSync(join(ROOT, file))]).toEqual([file, true]);
  }
});
