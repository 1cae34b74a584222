/** Options that the pages name exist in a configuration, and the values that they call defaults are these. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type * as z from 'zod';
import { zAttesterConfig } from '../src/apps/attester/config.ts';
import { parseConfig } from '../src/apps/config/load.ts';
import { keysAt, schemasAt } from '../src/apps/config/schema-paths.ts';
import { zDeployConfig } from '../src/apps/deploy/config.ts';
import { zLpAppConfig } from '../src/apps/lp/config.ts';
import { zVenueConfig } from '../src/apps/venue/config.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');
const PAGES = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md'))
  .map((path) => join('docs', path));

/** Each configuration with an example that starts its process. */
const APPS: readonly { schema: z.ZodType; example: Record<string, unknown> }[] = [
  { schema: zVenueConfig, example: JSON.parse(read('config/venue.example.json')) },
  { schema: zLpAppConfig, example: JSON.parse(read('config/lp.example.json')) },
  { schema: zAttesterConfig, example: JSON.parse(read('config/attester.example.json')) },
];

const SCHEMAS: readonly z.ZodType[] = [...APPS.map(({ schema }) => schema), zDeployConfig];

/** The words of `a.b.*.c` or `a.b[].c`. A placeholder stands for one entry of a list or a record. */
const pathOf = (name: string) =>
  name
    .replaceAll('[]', '.0')
    .split('.')
    .map((word) => (/^[A-Z]+$|^\*$/.test(word) ? '0' : word));

const sectionsOf = (schema: z.ZodType) => new Set(keysAt(schema, []));

/** Pages for LPs may leave out `lp`, and the page of bridges the section that its table lists. */
const PREFIXES = [[], ['lp'], ['bridges', 'oft', '0']];

/** Whether some configuration has this option. */
function exists(name: string): boolean {
  return SCHEMAS.some((schema) =>
    PREFIXES.some((prefix) => schemasAt(schema, [...prefix, ...pathOf(name)]).length > 0),
  );
}

/** The default of an option in each configuration that has it: the example without that option, parsed. */
function defaultsOf(name: string): unknown[] {
  return [pathOf(name), ['lp', ...pathOf(name)]].flatMap((path) =>
    APPS.filter(({ schema }) => schemasAt(schema, path).length > 0).map((app) => defaultOf(app, path)),
  );
}

function defaultOf({ schema, example }: (typeof APPS)[number], path: readonly string[]): unknown {
  const without = structuredClone(example);
  const parent = at(without, path.slice(0, -1));
  if (typeof parent === 'object' && parent !== null)
    delete (parent as Record<string, unknown>)[path.at(-1) as string];
  return at(parseConfig(schema, without, {}).config, path);
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);
}

const OPTION = /`([a-z]\w*(?:\[\])?(?:\.(?:\w+|\*)(?:\[\])?)+)`/g;
const STATED = /`([a-z]\w*(?:\.\w+)+)` \((-?[\d,]*\d(?:\.\d+)?)( %)?[ )]/g;

/** Tables with a column of defaults, and the section whose options they list. */
const TABLES: readonly { page: string; section: string }[] = [
  { page: 'docs/lp/bridges.md', section: 'bridges.cctp' },
  { page: 'docs/lp/rebalancing.md', section: 'transfers' },
  { page: 'docs/lp/signals.md', section: 'lp.signals' },
];

/** The rows below the first header that has both columns: name of the option, stated default. */
function rowsOf(page: string): { name: string; value: string }[] {
  const lines = read(page).split('\n');
  const start = lines.findIndex((line) => /^\| Option.*\| Default \|/.test(line));
  const cells = (line = '') => line.split('|').map((cell) => cell.trim());
  const column = cells(lines[start]).indexOf('Default');
  const rows = lines.slice(start + 2);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith('|')),
    )
    .map((line) => ({
      name: cells(line)[1]?.replaceAll('`', '') ?? '',
      value: cells(line)[column]?.replaceAll('`', '') ?? '',
    }));
}

/** Pages for takers name fields of answers in the same way, so they are left out. */
const named = PAGES.filter((page) => !page.startsWith('docs/trade/'))
  .flatMap((page) => [...read(page).matchAll(OPTION)].map(([, name = '']) => ({ page, name })))
  .filter(
    ({ name }) =>
      !name.endsWith('.json') && SCHEMAS.some((schema) => sectionsOf(schema).has(pathOf(name)[0] as string)),
  );

test('every option that a page names exists', () => {
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ name }) => !exists(name)).map(({ page, name }) => `${page}: ${name}`)).toEqual([]);
});

test('a value in brackets after an option is its default', () => {
  const stated = PAGES.flatMap((page) =>
    [...read(page).matchAll(STATED)].map(([, name = '', value = '', percent]) => ({
      page,
      name,
      value: Number(value.replaceAll(',', '')) / (percent ? 100 : 1),
    })),
  );
  expect(stated.length).toBeGreaterThan(3);
  expect(
    stated
      .filter(({ name, value }) => !defaultsOf(name).includes(value))
      .map((each) => ({ ...each, defaults: defaultsOf(each.name) })),
  ).toEqual([]);
});

test.each(TABLES)('$page: the column of defaults says what $section has', ({ page, section }) => {
  const rows = rowsOf(page);
  expect(rows.length).toBeGreaterThan(3);
  const wrong = rows.filter(
    ({ name, value }) => !defaultsOf(`${section}.${name}`).some((each) => String(each) === value),
  );
  expect(wrong).toEqual([]);
});

test('the checks find a name that no configuration has and a value that is no default', () => {
  expect(exists('admission.waiting.quote')).toBe(true);
  expect(exists('admission.waiting.quotes')).toBe(false);
  expect(defaultsOf('admission.waiting.quote')).toEqual([0]);
});
