/**
 * The list of faults is true: every one has a test by its name, every defence stands where the list says, and
 * the page says the same.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FAULTS } from './faults/faults.ts';
import { page } from './faults/page.ts';

const ROOT = resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

describe.each(FAULTS)('$id', ({ id, test: file, defences }) => {
  test('has a test by that name', () => {
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    expect(read(file)).toMatch(new RegExp(`['"\`]${id}: `));
  });
  test('has defences, each once in its file', () => {
    expect(defences.length).toBeGreaterThan(0);
    for (const { file: at, from, to } of defences) {
      expect(read(at).split(from).length - 1, `${at}: ${from}`).toBe(1);
      expect(to).not.toBe(from);
    }
  });
});

test('docs/reference/faults.md is what the list says (npm run test:faults -- --page)', () => {
  expect(read('docs/reference/faults.md')).toBe(page());
});
