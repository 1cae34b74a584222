/** contracts/README.md names a test for each property; each test and each invariant exists on both sides. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const CONTRACTS = join(import.meta.dirname, '..', 'contracts');
const read = (...path: string[]) => readFileSync(join(CONTRACTS, ...path), 'utf8');

const rows = [...read('README.md').matchAll(/^\| ([SP]\d+) \| .* \| `(\w+)` \|$/gm)].map(
  ([, number, name]) => ({ number: number as string, name: name as string }),
);

test('every property has a test that exists', () => {
  const sources = readdirSync(join(CONTRACTS, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sol'))
    .map((file) => read('test', file))
    .join('\n');
  const missing = rows.filter(({ name }) => !new RegExp(`(?:function|contract) ${name}\\b`).test(sources));
  expect(missing).toEqual([]);
});

test('S1 to S14 are listed once each, and every check of the invariants is a property', () => {
  const numbers = rows.map(({ number }) => number);
  expect(numbers).toEqual([...new Set(numbers)]);
  expect(numbers.filter((each) => each.startsWith('S'))).toEqual(
    Array.from({ length: 14 }, (_, at) => `S${at + 1}`),
  );
  const invariants = ['Invariants.t.sol', 'Bond.t.sol', 'LpAccount.t.sol'].map((file) =>
    read('test', 'invariants', file),
  );
  const checks = [...invariants.join('\n').matchAll(/function (\w+)\(\) private/g)]
    .map(([, name]) => name as string)
    .filter((name) => name !== 'selectors');
  const unlisted = checks.filter(
    (check) => !rows.some(({ number, name }) => name === check || check.split('_').includes(number)),
  );
  expect(unlisted).toEqual([]);
});

const { MUTANTS } = (await import(join(CONTRACTS, 'proofs/mutants.mjs'))) as {
  MUTANTS: { proof: string; from: string; to: string }[];
};

test('the table of proofs has each function of contracts/proofs, with its mutant', () => {
  const functions = readdirSync(join(CONTRACTS, 'proofs'))
    .filter((file) => file.endsWith('.sol'))
    .flatMap((file) =>
      read('proofs', file)
        .split(/^contract /m)
        .slice(1)
        .flatMap((text) => {
          const contract = /^\w+/.exec(text)?.[0];
          return [...text.matchAll(/function (\w+)\(/g)].map(([, name]) => `${contract}.${name}`);
        }),
    );
  expect(MUTANTS.map(({ proof }) => proof).sort()).toEqual(functions.sort());
  const cells = MUTANTS.map(
    ({ proof, from, to }) =>
      `| \`${proof}\` | \`${from.replace('|', '\\|')}\` becomes \`${to.replace('|', '\\|')}\` |`,
  );
  const table = read('README.md');
  expect(cells.filter((cell) => !table.includes(cell))).toEqual([]);
});
