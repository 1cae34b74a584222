/** Counts what a command ran, and closes its output with the failures and one line of numbers. */

/** A tally counts tests and steps alike; `failures` names what failed in words. */
export const createTally = () => ({ passed: 0, failed: 0, failures: [] });

/** Runs steps in order, each even if one before it failed. A step returns 0 for success. */
export async function runSteps(tally, steps, print) {
  for (const [name, step] of steps) {
    const startedMs = Date.now();
    print(`\n== ${name}`);
    const status = await step();
    if (status === 0) tally.passed += 1;
    else fails(tally, name);
    print(
      `== ${name}: ${status === 0 ? 'ok' : 'FAILED'} (${((Date.now() - startedMs) / 1000).toFixed(1)} s)`,
    );
  }
}

/** Counts the tests of one runner. A runner without a single passed test is a failure. */
export function countTests(tally, runner, result) {
  if (!result || result.passed === 0) fails(tally, `${runner} ran no test`);
  tally.passed += result?.passed ?? 0;
  tally.failed += result?.failed ?? 0;
}

export function fails(tally, name) {
  tally.failed += 1;
  tally.failures.push(name);
}

/** Prints the last lines of a command and returns its exit status. `.ci/run` reads them. */
export function close({ passed, failed, failures }) {
  if (failures.length > 0) console.log(`\nFAILED ${failures.join('; ')}`);
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}
