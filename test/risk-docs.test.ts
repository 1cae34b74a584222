/** docs/lp/risk.md has a row for every risk control, in order, and every setting that it names exists. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CONTROLS } from '../src/domain/decline.ts';
import { isReloadable } from '../src/lp/config/reload.ts';

const text = readFileSync(new URL('../docs/lp/risk.md', import.meta.url), 'utf8');
const example = JSON.parse(readFileSync(new URL('../config/lp.example.json', import.meta.url), 'utf8')) as {
  lp: object;
};
/** Control, when it trips, what follows, and the settings below `lp.`. */
const rows = text
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.slice(2, -2).split(' | '));
const keys = rows.flatMap((row) => (row[3] ?? '').split(', ').map((key) => key.replaceAll('`', '')));

test('a row for every control, each with a trigger, a consequence and a setting', () => {
  expect(rows.map(([control]) => control)).toEqual(CONTROLS.map((control) => `\`${control}\``));
  for (const row of rows)
    expect(
      row.filter((cell) => cell.trim() !== ''),
      row[0],
    ).toHaveLength(4);
});

test('every setting in it exists in the example configuration', () => {
  const known = (value: unknown, path: readonly string[]): boolean => {
    const [name, ...rest] = path;
    if (name === undefined) return true;
    if (typeof value !== 'object' || value === null) return false;
    if (name === '*') return Object.values(value).some((each) => known(each, rest));
    return name in value && known((value as Record<string, unknown>)[name], rest);
  };
  expect(keys.length).toBeGreaterThan(CONTROLS.length);
  expect(keys.filter((key) => !known(example.lp, key.split('.')) && !known(example, key.split('.')))).toEqual(
    [],
  );
});

test('it names exactly the settings that a reload refuses', () => {
  const [, paragraph = ''] = /A change of (.*?) needs a restart\./s.exec(text) ?? [];
  const atStart = [...paragraph.matchAll(/`([^`]+)`/g)].map(([, key = '']) => key);
  const ruleOf = (key: string) =>
    atStart.find((rule) => rule === key || (rule.endsWith('.*') && key.startsWith(rule.slice(0, -1))));
  const refused = keys.filter((key) => !isReloadable(key.split('.')));
  expect([...new Set(refused.map((key) => ruleOf(key) ?? key))].sort()).toEqual(atStart.sort());
});
