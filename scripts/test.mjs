/** `npm test`, and the suites beside it. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkContracts, provedBefore, RECORD } from './contracts-proof.mjs';
import { install } from './install.mjs';
import { bin, ROOT, run } from './processes.mjs';
import { missingPrograms, notRun, withoutTestsOf } from './programs.mjs';
import { close, countTests, createTally, fails, runSteps } from './tally.mjs';
import { vitest } from './vitest.mjs';

/**
 * Runs vitest on the named files, or without arguments every check, each step even if one before it failed.
 * Tests that take long are left to `npm run test:long`. Tests that need a missing program are left out and
 * named at the end; with CI=true a missing program is a failure.
 */
export async function test(patterns) {
  install();
  const missing = missingPrograms();
  const env = withoutTestsOf(missing);
  if (patterns.length > 0) return run(bin('vitest'), ['run', ...patterns], undefined, env);
  const folder = mkdtempSync(join(tmpdir(), 'firmquote-test-'));
  const tally = createTally();
  // Each checker works out the types of the libraries anew; the tests take the other core.
  const types = (project) => run(bin('tsc'), ['-p', project, '--noEmit', '--checkers', '1']);
  let verdict;
  async function runVitest() {
    verdict = await vitest(
      ([verb, ...words]) => run(bin('vitest'), [verb, '--project', 'short', ...words], undefined, env),
      folder,
      ROOT,
    );
    return verdict.failed === 0 ? 0 : 1;
  }
  const steps = [
    ['types', () => types('tsconfig.json')],
    ['types of the package', () => types('src/client/tsconfig.json')],
    ['types of the scripts', () => types('scripts/tsconfig.json')],
    ['types of the console', () => types('web/tsconfig.json')],
    ['format', () => run(bin('oxfmt'), ['--check', 'src', 'test', 'bench', 'scripts', 'docs', 'web'])],
    ['lint', () => run(bin('oxlint'), ['--deny-warnings'])],
    ['no dead files or exports, no unused or unlisted packages', () => run(bin('knip'), ['--no-progress'])],
    ['vitest', runVitest],
  ];
  // Compiling the contracts takes one core for a minute while the tests mostly wait, so both run together.
  // What the contracts print follows what the tests print.
  const held = [];
  const proved = provedBefore();
  const checked = proved === undefined ? checkContracts(tally, (line) => held.push(line)) : undefined;
  await runSteps(tally, steps, console.log);
  await checked;
  if (held.length > 0) console.log(held.join('\n'));
  rmSync(folder, { recursive: true });
  countTests(tally, 'vitest', verdict);
  if (verdict?.lines.length) console.log(`\n${verdict.lines.join('\n')}`);
  if (proved !== undefined)
    console.log(
      `\nPROVED BEFORE ${proved} forge tests, by the hash in ${RECORD}: not run again, and not counted below`,
    );
  reportMissing(missing, tally);
  return close(tally);
}

/** Runs all checks of the contracts, whatever was proved before. */
export async function contracts(env) {
  install();
  const tally = createTally();
  await checkContracts(tally, console.log, env);
  return close(tally);
}

/** Runs the tests of some projects of vitest.config.ts; `note` follows the name of each failure. */
export async function suite(projects, env = {}, note = '') {
  install();
  const missing = missingPrograms();
  const folder = mkdtempSync(join(tmpdir(), 'firmquote-suite-'));
  const verdict = await vitest(
    ([verb, ...words]) =>
      run(bin('vitest'), [verb, ...projects.flatMap((name) => ['--project', name]), ...words], undefined, {
        ...env,
        ...withoutTestsOf(missing),
      }),
    folder,
    ROOT,
  );
  rmSync(folder, { recursive: true });
  const tally = createTally();
  countTests(tally, projects.join(', '), verdict);
  if (verdict.lines.length > 0) console.log(`\n${verdict.lines.map((line) => line + note).join('\n')}`);
  reportMissing(missing, tally);
  return close(tally);
}

function reportMissing(missing, tally) {
  if (missing.length === 0) return;
  console.log(`\n${notRun(missing).join('\n')}`);
  if (process.env.CI !== 'true') return;
  for (const { name } of missing) fails(tally, `${name} is missing, which CI=true does not allow`);
}
