/** docs/lp/parameters.md has a row for every pricing parameter, and its figures are computed again. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readPriceInputs } from '../src/apps/cli/lp/price-inputs.ts';
import { isDecline } from '../src/domain/decline.ts';
import { zLpConfig } from '../src/lp/config/config.ts';
import { parameterTable } from '../src/lp/config/parameter-table.ts';
import { DEFAULT_PARAMS } from '../src/pricing/params.ts';
import { price } from '../src/pricing/price.ts';

const read = (name: string) => readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8');
const page = read('lp/parameters.md');
const example = JSON.parse(read('examples/worked-example.json')) as { params: object };
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.slice(2, -2).split(' | '));

function spreadWith(change: object): string {
  const json = { ...example, params: { ...example.params, ...change } };
  const given = readPriceInputs(json, 'worked-example.json');
  if (isDecline(given)) throw new Error(given.declined);
  const priced = price(given.inputs);
  return isDecline(priced) ? `declined: ${priced.declined}` : priced.terms.D.toFixed(2);
}

const valueOf = (text: string): unknown =>
  text === '1/3600' ? 1 / 3600 : (JSON.parse(text) as number | boolean);

test('a row for every parameter, with its default', () => {
  const defaults = rows.map(([name = '', , , preset = '']) => [name.replaceAll('`', ''), valueOf(preset)]);
  expect(Object.fromEntries(defaults)).toEqual(DEFAULT_PARAMS);
  for (const row of rows) expect(row, row[0]).toHaveLength(7);
});

test('the console says the same of every parameter, and each has a kind and bounds that fit its default', () => {
  const words = parameterTable().map(({ name, meaning, unit }) => [name, meaning, unit]);
  expect(words.slice(0, -1)).toEqual(
    rows.map(([name = '', meaning, unit]) => [name.replaceAll('`', ''), meaning, unit]),
  );
  expect(page).toContain('`lockSeconds` is the time from fill to claim on that corridor');
  for (const { name, kind, preset, least, most } of parameterTable().slice(0, -1)) {
    expect(typeof preset, name).toBe(kind === 'boolean' ? 'boolean' : 'number');
    expect(Number(preset), name).toBeGreaterThanOrEqual(least ?? -Infinity);
    expect(Number(preset), name).toBeLessThanOrEqual(most ?? Infinity);
  }
});

test('docs/lp/signals.md has a row for every bound of signals, with its default', () => {
  const bounds = read('lp/signals.md').matchAll(/^\| `(max\w+)` \| (\d+) \|/gm);
  expect(Object.fromEntries([...bounds].map(([, name, preset]) => [name, Number(preset)]))).toEqual(
    zLpConfig.shape.signals.parse(undefined),
  );
});

test('the figures of the example are right', () => {
  expect(page).toContain(`unchanged it is ${spreadWith({})} bps`);
  const figures = rows.filter(([, , , , , figure]) => figure !== '–');
  expect(figures.length).toBeGreaterThan(20);
  for (const [name = '', , , , to = '', figure] of figures)
    expect([name, spreadWith({ [name.replaceAll('`', '')]: valueOf(to) })]).toEqual([name, figure]);
});
