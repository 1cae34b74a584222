/** `npm test`, and the suites beside it. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install } from './install.mjs';
import { bin, ROOT, run } from './processes.mjs';
import { missingPrograms, notRun, withoutTestsOf } from './programs.mjs';
import { vitest } from './vitest.mjs';

/**
 * With arguments: vitest on the named files. Without: every check, each step even if one before it failed.
 * Tests that take long are left to `npm run test:long`. Tests that need a missing program are left out and
 * named at the end; with CI=true a missing program is a failure.
 */
export async function test(patterns) {
  install();
  const missing = missingPrograms();
  const env = withoutTestsOf(missing);
  if (patterns.length > 0) return run(bin('vitest'), ['run', ...patterns], undefined, env);
  const folder = mkdtempSync(join(tmpdir(), 'firmquote-test-'));
  const steps = [
    ['types', () => types('tsconfig.json')],
    ['types of the package', () => types('tsconfig.build.json')],
    ['types of the console', () => types('web/tsconfig.json')],
    ['format', () => run(bin('oxfmt'), ['--check', 'src', 'test', 'bench', 'scripts', 'docs', 'web'])],
    ['lint', () => run(bin('oxlint'), ['--deny-warnings'])],
    ['no dead files, no unused or unlisted packages', () => run(bin('knip'), ['--no-progress'])],
    ['vitest', runVitest],
  ];
  // Each checker works out the types of the libraries anew; the contracts take the other core.
  const types = (project) => run(bin('tsc'), ['-p', project, '--noEmit', '--checkers', '1']);
  const contracts = (words, onLine) => run(process.execPath, ['scripts/contracts.mjs', ...words], onLine);
  const contractSteps = [
    [
      'contracts: two compilations give the same code, and the generated ABI and bytecode are fresh',
      (print) => contracts(['check'], print),
    ],
    [
      'contracts: forge tests, fuzz and invariants',
      (print) => contracts(['test'], (line) => (countForge(line), print(line))),
    ],
    ['contracts: gas snapshot', (print) => contracts(['snapshot', '--check'], print)],
  ];
  const count = { passed: 0, failed: 0 };
  let forge;
  function countForge(line) {
    const match = /(\d+) tests? passed, (\d+) failed/.exec(line);
    if (match && /test suites? in/.test(line)) forge = { passed: Number(match[1]), failed: Number(match[2]) };
  }
  let verdict;
  async function runVitest() {
    const short = { ...env, FIRMQUOTE_TESTS: 'short' };
    verdict = await vitest((words) => run(bin('vitest'), words, undefined, short), folder, ROOT);
    return verdict.failed === 0 ? 0 : 1;
  }
  const failures = [];
  async function inOrder(list, print) {
    for (const [name, step] of list) {
      const startedMs = Date.now();
      print(`\n== ${name}`);
      const status = await step(print);
      count[status === 0 ? 'passed' : 'failed'] += 1;
      if (status !== 0) failures.push(name);
      print(
        `== ${name}: ${status === 0 ? 'ok' : 'FAILED'} (${((Date.now() - startedMs) / 1000).toFixed(1)} s)`,
      );
    }
  }
  // Compiling the contracts takes one core for a minute while the tests mostly wait, so both run at once.
  // What the contracts print follows what the tests print.
  const held = [];
  const compiled = inOrder(contractSteps, (line) => held.push(line));
  await inOrder(steps, console.log);
  await compiled;
  console.log(held.join('\n'));
  rmSync(folder, { recursive: true });
  for (const [part, result] of [
    ['forge', forge],
    ['vitest', verdict],
  ]) {
    if (result && result.passed > 0) {
      count.passed += result.passed;
      count.failed += result.failed;
    } else {
      count.failed += 1;
      failures.push(`${part} ran no test`);
    }
  }
  if (verdict?.lines.length) console.log(`\n${verdict.lines.join('\n')}`);
  reportMissing(missing, count, failures);
  if (failures.length > 0) console.log(`\nFAILED ${failures.join('; ')}`);
  console.log(`\n${count.passed} passed, ${count.failed} failed`);
  return count.failed === 0 ? 0 : 1;
}

/** Runs the tests of one configuration; `note` follows the name of each failure. */
export async function suite(config, env = {}, note = '') {
  install();
  const missing = missingPrograms();
  const folder = mkdtempSync(join(tmpdir(), 'firmquote-suite-'));
  const verdict = await vitest(
    ([verb, ...words]) =>
      run(bin('vitest'), [verb, '--config', config, ...words], undefined, {
        ...env,
        ...withoutTestsOf(missing),
      }),
    folder,
    ROOT,
  );
  rmSync(folder, { recursive: true });
  const count = { passed: verdict.passed, failed: verdict.failed };
  const failures = [];
  if (verdict.lines.length > 0) console.log(`\n${verdict.lines.map((line) => line + note).join('\n')}`);
  reportMissing(missing, count, failures);
  if (failures.length > 0) console.log(`\nFAILED ${failures.join('; ')}`);
  console.log(`\n${count.passed} passed, ${count.failed} failed`);
  return count.failed === 0 ? 0 : 1;
}

function reportMissing(missing, count, failures) {
  if (missing.length === 0) return;
  console.log(`\n${notRun(missing).join('\n')}`);
  if (process.env.CI !== 'true') return;
  count.failed += missing.length;
  failures.push(...missing.map(({ name }) => `${name} is missing, which CI=true does not allow`));
}
