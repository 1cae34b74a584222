/**
 * contracts/proved.json speaks for one state of the contracts: a file or package that their checks read
 * cannot change without the record losing its word.
 */

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const { hashOf, PACKAGES, provedBefore, RECORD } = (await import(
  join(ROOT, 'scripts/contracts-proof.mjs')
)) as {
  hashOf(root: string): string;
  PACKAGES: RegExp;
  provedBefore(root: string): number | undefined;
  RECORD: string;
};

/** A copy of what the hash covers, with a record that speaks for it. */
function proved(): string {
  const root = mkdtempSync(join(tmpdir(), 'firmquote-proof-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const path of [
    ...['contracts/src', 'contracts/test', 'contracts/proofs', 'contracts/foundry.toml'],
    ...['src/settlement/abi', 'test/support/abi', 'test/vectors'],
    ...['scripts/contracts.mjs', 'scripts/prove.mjs', 'scripts/smt.mjs', 'package-lock.json'],
  ])
    cpSync(join(ROOT, path), join(root, path), { recursive: true });
  writeFileSync(join(root, RECORD), JSON.stringify({ hash: hashOf(root), tests: 7 }));
  return root;
}

function change(root: string, path: string, from: string | RegExp, to: string) {
  const text = readFileSync(join(root, path), 'utf8');
  expect(text).toMatch(from);
  writeFileSync(join(root, path), text.replace(from, to));
}

test('the record speaks for the tree that it was made of', () => {
  expect(provedBefore(proved())).toBe(7);
});

test.each([
  ['contracts/src/Escrow.sol', 'contract', 'contract '],
  ['contracts/test/Gas.t.sol', 'contract', 'contract '],
  ['contracts/proofs/LimitProof.sol', 'contract', 'contract '],
  ['scripts/smt.mjs', 'rlimit', 'rlimits'],
  ['contracts/foundry.toml', 'runs = 256', 'runs = 255'],
  ['test/vectors/orders.json', '{', '{ '],
  ['scripts/contracts.mjs', 'EIP-170', 'EIP-171'],
  ['package-lock.json', /"node_modules\/solc": \{\s+"version": "/, '$&9'],
  ['package-lock.json', /"node_modules\/@openzeppelin\/contracts": \{\s+"version": "/, '$&9'],
])('a change of %s takes its word', (path, from, to) => {
  const root = proved();
  change(root, path, from, to);
  expect(provedBefore(root)).toBeUndefined();
});

test('a new contract takes its word', () => {
  const root = proved();
  writeFileSync(join(root, 'contracts/test/New.t.sol'), '');
  expect(provedBefore(root)).toBeUndefined();
});

test('prose and packages that no contract reads do not', () => {
  const root = proved();
  writeFileSync(join(root, 'contracts/README.md'), 'Other words.');
  change(root, 'package-lock.json', /"node_modules\/fastify": \{\s+"version": "/, '$&9');
  expect(provedBefore(root)).toBe(7);
});

test('every package that contracts, their tests and their script read is hashed', () => {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
  const sources = ['contracts/src', 'contracts/test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.sol'))
      .map((name) => read(`${folder}/${name}`)),
  );
  const reads = [
    /["'](?:node_modules\/)?(@[\w-]+\/[\w-]+)\//g,
    /(?:import|from) "([a-z][\w-]*)\//g,
    /require(?:\.resolve)?\('([a-z][\w-]*)/g,
    /"(?:node_modules\/)?([a-z][\w-]*)\/[^"]*\.(?:json|bytecode)"/g,
  ];
  const names = [...sources, read('contracts/solcw'), read('scripts/contracts.mjs')].flatMap((text) =>
    reads.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name as string)),
  );
  const packages = [...new Set(names)].filter((name) => !['test', 'contracts'].includes(name)).sort();
  expect(packages).toMatchInlineSnapshot(`
    [
      "@layerzerolabs/lz-evm-protocol-v2",
      "@layerzerolabs/oft-evm",
      "@openzeppelin/contracts",
      "@uniswap/v2-core",
      "@uniswap/v3-core",
      "@uniswap/v3-periphery",
      "canonical-weth",
      "hardhat-predeploy",
      "solc",
      "viem",
    ]
  `);
  expect(packages.filter((name) => !PACKAGES.test(name))).toEqual([]);
});
