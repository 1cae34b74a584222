/**
 * The checks of the contracts, and the record of the last run in which all passed: contracts/proved.json.
 * `npm test` runs them again only where a file or package that they read has changed since: they take five
 * minutes of CPU, and few commits touch contracts. `npm run test:contracts`, the nightly run and a release
 * always run them.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './processes.mjs';
import { countTests, fails, runSteps } from './tally.mjs';

export const RECORD = 'contracts/proved.json';

/** Packages that the contracts, their tests, their compiler or the generated files read. */
export const PACKAGES =
  /^(@foundry-rs|@openzeppelin|@layerzerolabs|@uniswap)\/|^(solc|canonical-weth|hardhat-predeploy|viem)$/;

/** Files and folders beside the packages. Forge's own output and prose prove nothing. */
const INPUTS = [
  ...['contracts', 'src/settlement/abi', 'test/support/abi', 'test/vectors'],
  ...['scripts/contracts.mjs', 'scripts/prove.mjs', 'scripts/smt.mjs'],
];
const LEFT_OUT = /^contracts\/(out|cache)(\/|$)|\.md$|\.test\.ts$/;

/**
 * Returns how many forge tests passed on this tree by its record; undefined where the record is of another
 * tree.
 */
export function provedBefore(root = ROOT) {
  const file = join(root, RECORD);
  const record = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  return record.hash === hashOf(root) && record.tests > 0 ? record.tests : undefined;
}

/** Runs all checks of the contracts. Unless `env` changes how forge runs, a green run renews the record. */
export async function checkContracts(tally, print, env = {}) {
  const hash = hashOf(ROOT);
  const failedBefore = tally.failed;
  const contracts = (words, onLine, more) =>
    run(process.execPath, ['scripts/contracts.mjs', ...words], onLine, more);
  let forge;
  const countForge = (line) => {
    const match = /(\d+) tests? passed, (\d+) failed/.exec(line);
    if (match && /test suites? in/.test(line)) forge = { passed: Number(match[1]), failed: Number(match[2]) };
    print(line);
  };
  const steps = [
    [
      'contracts: two compilations give the same code, and the generated ABI and bytecode are fresh',
      () => contracts(['check'], print),
    ],
    ['contracts: forge tests, fuzz and invariants', () => contracts(['test'], countForge, env)],
    ['contracts: gas snapshot', () => contracts(['snapshot', '--check'], print)],
    [
      'contracts: proofs, and mutants that they refute',
      () => run(process.execPath, ['scripts/prove.mjs'], print),
    ],
  ];
  await runSteps(tally, steps, print);
  countTests(tally, 'forge', forge);
  if (tally.failed > failedBefore || Object.keys(env).length > 0) return;
  // A CI that renewed the record by itself would hide that the commit lacks it.
  if (process.env.CI === 'true') {
    if (provedBefore() === undefined)
      fails(tally, `${RECORD} is of other contracts: run npm run test:contracts and commit the file`);
    return;
  }
  writeFileSync(join(ROOT, RECORD), `${JSON.stringify({ hash, tests: forge.passed }, null, 2)}\n`);
}

/** A hash of everything that the checks of the contracts read. */
export function hashOf(root) {
  const hash = createHash('sha256');
  for (const path of INPUTS.flatMap((each) => filesUnder(root, each)).sort())
    hash.update(`${path}\0`).update(
      createHash('sha256')
        .update(readFileSync(join(root, path)))
        .digest(),
    );
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  for (const [path, { version, integrity }] of Object.entries(packages))
    if (PACKAGES.test(path.split('node_modules/').at(-1))) hash.update(`${path}\0${version}\0${integrity}\0`);
  return hash.digest('hex');
}

function filesUnder(root, path) {
  if (path === RECORD || LEFT_OUT.test(path)) return [];
  const entries = readdirOrFile(join(root, path));
  return entries ? entries.flatMap((name) => filesUnder(root, `${path}/${name}`)) : [path];
}

/** The names in a folder, or undefined for a file. */
function readdirOrFile(path) {
  try {
    return readdirSync(path);
  } catch (error) {
    if (error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}
