/** The gas that the performance page names is the gas that the contracts use. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const measured = JSON.parse(readFileSync(join(root, 'contracts/snapshots/GasTest.json'), 'utf8')) as Record<
  string,
  string
>;
const section = /## Gas\n([^]*?)\n## /.exec(
  readFileSync(join(root, 'docs/reference/performance.md'), 'utf8'),
)?.[1] as string;
const table = section.split('\n').filter((line) => line.startsWith('|'));

/** [funding, column] of the page, and what the row of the snapshot is called. */
const COLUMNS = ['plain token, first trade', 'plain token, later trade', 'token behind a proxy, later trade'];
const FUNDINGS: Record<string, (column: number) => string> = {
  'EIP-3009': (column) => `settle, one output, EIP-3009, ${COLUMNS[column]}`,
  'standing Permit2 grant': (column) => `settle, one output, standing Permit2 grant, ${COLUMNS[column]}`,
  ledger: (column) => `settle, one output, ledger, ${COLUMNS[column]}`,
  'EIP-3009, each of 32 in a batch': (column) =>
    `settle in a batch, one output, EIP-3009, each of 32, ${column === 0 ? 'first' : 'later'} trades`,
  'EIP-3009, quote signed with 15 others': (column) =>
    `settle, one output, signed with 15 others, EIP-3009, ${COLUMNS[column]}`,
};
const cells = table.slice(2).flatMap((line) => {
  const [, funding = '', ...values] = line.split('|').map((cell) => cell.trim());
  return values.flatMap((value, column) => (value === '' ? [] : [{ funding, column, value }]));
});

test.each(cells)('$funding, column $column: $value', ({ funding, column, value }) => {
  expect(value.replace(',', '')).toBe(String(measured[FUNDINGS[funding]?.(column) ?? '']));
});

test('the table has every row', () => {
  expect(new Set(cells.map(({ funding }) => funding))).toEqual(new Set(Object.keys(FUNDINGS)));
});

test('a limit of the operator costs what the page says', () => {
  const name = 'settle, operator with a limit, one output, EIP-3009, plain token, later trade';
  const more =
    Number(measured[name]) - Number(measured['settle, one output, EIP-3009, plain token, later trade']);
  expect(section).toContain(`costs ${more.toLocaleString('en')} more`);
});
