/**
 * The list of faults is true: each fault has its test, each defence exists, and docs/reference/faults.md is
 * the same.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { transformSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { FAULTS } from './faults/faults.ts';
import { page, PAGE } from './faults/page.ts';
import { fileOf, takeOut } from './faults/take-out.ts';

const ROOT = resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

describe.each(FAULTS)('$id', ({ id, test: file, defences }) => {
  test('has a test of that name', () => {
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    expect(read(file)).toMatch(new RegExp(`['"\`]${id}: `));
  });
  test('has defences that exist and can be taken out', () => {
    expect(defences.length).toBeGreaterThan(0);
    for (const defence of defences) {
      const source = read(fileOf(defence));
      const without = takeOut(source, defence);
      expect(without, defence.symbol).not.toBe(source);
      if (fileOf(defence).endsWith('.ts'))
        transformSync(without, { loader: 'ts', sourcefile: defence.symbol });
    }
  });
});

test('taking out replaces functions, their overloads and constants, and nothing else', async () => {
  const source = `export function f(a: string): number;
export function f(a: unknown): number {
  return g(a) + limit;
}
const g = (a: unknown) => String(a).length;
export const limit = [
  1,
].length;
export const text = \`a
b\`;
`;
  const run = async (symbol: string, becomes: string, expression: string) => {
    const { code } = transformSync(
      `${takeOut(source, { what: '', symbol: `a.ts#${symbol}`, becomes })}\nexport const got = ${expression};`,
      { loader: 'ts' },
    );
    return ((await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { got: unknown }).got;
  };
  expect(await run('f', '(a) => 10 * original(a)', 'f("abc")')).toBe(40);
  expect(await run('limit', 'original + 100', 'f("abc")')).toBe(104);
  expect(await run('text', "original + 'c'", 'text')).toBe('a\nbc');
  expect(await run('g', '() => 7', 'f("abc")')).toBe(8);
  expect(() => takeOut(source, { what: '', symbol: 'a.ts#h', becomes: '1' })).toThrow('declares no');
});

test(`${PAGE} is what the list says (npm run test:faults -- --page)`, () => {
  expect(read(PAGE)).toBe(page());
});
