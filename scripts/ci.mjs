/** `.ci/run`. */

import { captured } from './processes.mjs';

/**
 * What `.ci/run` runs: npm test, the longer suites and the demo's fixed list, as a user would type them.
 */
export async function ci() {
  const count = { passed: 0, failed: 0 };
  const tests = await captured('npm', ['test']);
  const closing = /^(\d+) passed, (\d+) failed$/m.exec(tests.output);
  if (closing) {
    count.passed += Number(closing[1]);
    count.failed += Number(closing[2]);
  }
  if (tests.status !== 0 && count.failed === 0) count.failed += 1;
  if (!closing) console.log('npm test printed no closing line: counted as a failure.');

  let output = tests.output;
  async function longer(name, print) {
    const { output: said, status } = await captured('npm', ['run', name], print);
    output += `\n${said}`;
    const ending = /^(\d+) passed, (\d+) failed$/m.exec(said);
    count.passed += Number(ending?.[1] ?? 0);
    count.failed += Number(ending?.[2] ?? 1);
    if (status !== 0 && Number(ending?.[2]) === 0) count.failed += 1;
  }
  for (const name of ['test:long', 'test:faults', 'test:hostile']) await longer(name);
  // These two lists wait most of the time, one test at a time, so they run at once. What the second one
  // prints follows.
  const held = [];
  const second = async () => {
    for (const name of ['lp-day', 'test:walkthrough', 'test:package'])
      await longer(name, (chunk) => held.push(chunk));
  };
  const first = async () => {
    for (const name of ['test:alerts', 'rehearse']) await longer(name);
  };
  await Promise.all([first(), second()]);
  console.log(Buffer.concat(held).toString());

  const demo = await captured('npm', ['run', 'demo', '--', '--once']);
  const checks = lastJson(demo.output)?.checks ?? [];
  count.passed += checks.filter((check) => check.ok).length;
  count.failed += checks.filter((check) => !check.ok).length;
  if (checks.length === 0 || (demo.status !== 0 && checks.every((check) => check.ok))) {
    console.log(
      `npm run demo -- --once ended with status ${demo.status} and ${checks.length} checks: counted as a failure.`,
    );
    count.failed += 1;
  }
  // Failures are repeated at the end, so that the end of the log is enough.
  const named = output.split('\n').filter((line) => /^(FAILED|UNSTEADY) /.test(line));
  const broken = checks
    .filter((check) => !check.ok)
    .map(({ name, detail }) => `FAILED demo > ${name} | ${detail}`);
  console.log([...named, ...broken].join('\n'));
  console.log(`${count.passed} passed, ${count.failed} failed`);
  return count.failed === 0 ? 0 : 1;
}

function lastJson(output) {
  try {
    return JSON.parse(output.trim().split('\n').at(-1) ?? '');
  } catch {
    return undefined;
  }
}
