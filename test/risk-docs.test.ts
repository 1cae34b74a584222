/** docs/lp/risk.md says of every control what the code says, and every setting that it names exists. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CONTROLS } from '../src/domain/control.ts';
import { CONTROL_CARDS } from '../src/risk/control.ts';

const text = readFileSync(new URL('../docs/lp/risk.md', import.meta.url), 'utf8');
const example = JSON.parse(readFileSync(new URL('../config/lp.example.json', import.meta.url), 'utf8')) as {
  lp: object;
};

test('the table equals the code, row by row', () => {
  const rows = CONTROLS.map((control) => {
    const { trips, does, keys } = CONTROL_CARDS[control];
    return `| \`${control}\` | ${trips} | ${does} | ${keys.map((key) => `\`${key}\``).join(', ')} |`;
  });
  expect(text.split('\n').filter((line) => line.startsWith('| `'))).toEqual(rows);
});

test('every setting in it exists in the example configuration', () => {
  const known = (value: unknown, path: readonly string[]): boolean => {
    const [name, ...rest] = path;
    if (name === undefined) return true;
    if (typeof value !== 'object' || value === null) return false;
    if (name === '*') return Object.values(value).some((each) => known(each, rest));
    return name in value && known((value as Record<string, unknown>)[name], rest);
  };
  const keys = CONTROLS.flatMap((control) => CONTROL_CARDS[control].keys);
  expect(keys.filter((key) => !known(example.lp, key.split('.')) && !known(example, key.split('.')))).toEqual(
    [],
  );
});
