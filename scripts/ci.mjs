/**
 * `.ci/run`: `npm test`, all other suites and the demo's fixed list, as a user would type them. Suites that
 * compute run alone. Suites that wait for blocks and leases, one test at a time, run in pairs.
 */

import { install } from './install.mjs';
import { captured, run } from './processes.mjs';
import { missingPrograms } from './programs.mjs';

/** Suites that fill both cores. */
const ALONE = [['test'], ['run', 'test:suites', '--', 'long', 'faults', 'hostile']];

/** Suites that mostly wait. The first lane takes from the beginning, the second from the end. */
const WAITING = [
  ['run', 'test:package'],
  ['run', 'test:walkthrough'],
  ['run', 'lp-day'],
  ['run', 'rehearse'],
  ['run', 'test:alerts'],
];

const DEMO = ['run', 'demo', '--', '--once'];

export async function ci() {
  // A test that passes only at its second try is a red one, for the suites that this starts too.
  process.env.FIRMQUOTE_UNSTEADY ??= 'fails';
  install();
  // Before the suites do it, two at the same time.
  missingPrograms();
  await build();
  const results = [];
  for (const words of ALONE) results.push(await suite(words));
  results.push(...(await inTwoLanes(WAITING, (words, print) => suite(words, countTests, print))));
  results.push(await suite(DEMO, countChecks));

  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  // Failures are repeated at the end, so that the end of the log is enough.
  console.log(results.flatMap(({ lines }) => lines).join('\n'));
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  return sum('failed') === 0 ? 0 : 1;
}

/** Runs one command to its end, and returns what `count` reads from its last lines. */
async function suite(words, count = countTests, print = (chunk) => process.stdout.write(chunk)) {
  const startedMs = Date.now();
  const { output, status } = await captured('npm', words, print);
  print(`== npm ${words.join(' ')}: ${((Date.now() - startedMs) / 60_000).toFixed(1)} min\n`);
  return count(words.join(' '), output, status);
}

/**
 * Runs each suite once, two at a time, and returns what `runSuite` says of them. What the second lane prints
 * follows a suite of the first.
 */
export async function inTwoLanes(suites, runSuite, show = (chunk) => process.stdout.write(chunk)) {
  const waiting = [...suites];
  const results = [];
  let held = [];
  const flush = () => {
    held.forEach(show);
    held = [];
  };
  const first = async () => {
    for (let suite; (suite = waiting.shift()); flush()) results.push(await runSuite(suite, show));
  };
  const second = async () => {
    for (let suite; (suite = waiting.pop());) {
      const said = [];
      results.push(await runSuite(suite, (chunk) => said.push(chunk)));
      held.push(...said);
    }
  };
  await Promise.all([first(), second()]);
  flush();
  return results;
}

/**
 * Builds what the suites start, before two of them do it at the same time: each builds only what is not
 * fresh.
 */
async function build() {
  for (const script of ['scripts/build.mjs', 'scripts/pages.mjs']) await run(process.execPath, [script]);
}

/** Reads what a suite's last lines say. It failed without them, or with a status that they do not explain. */
export function countTests(name, output, status) {
  const ending = [...output.matchAll(/^(\d+) passed, (\d+) failed$/gm)].at(-1);
  const passed = Number(ending?.[1] ?? 0);
  const failed = Number(ending?.[2] ?? 1);
  const lines = output.split('\n').filter((line) => /^(FAILED|UNSTEADY|PROVED BEFORE) /.test(line));
  if (!ending) lines.push(`FAILED npm ${name} printed no closing line`);
  if (status === 0 || failed > 0) return { passed, failed, lines };
  return { passed, failed: 1, lines: [...lines, `FAILED npm ${name} ended with status ${status}`] };
}

export function countChecks(name, output, status) {
  const checks = lastJson(output)?.checks ?? [];
  const broken = checks.filter((check) => !check.ok);
  const lines = broken.map(({ name: check, detail }) => `FAILED demo > ${check} | ${detail}`);
  const passed = checks.length - broken.length;
  if (checks.length > 0 && (status === 0 || broken.length > 0))
    return { passed, failed: broken.length, lines };
  return {
    passed,
    failed: broken.length + 1,
    lines: [...lines, `FAILED npm ${name} ended with status ${status} and ${checks.length} checks`],
  };
}

function lastJson(output) {
  try {
    return JSON.parse(output.trim().split('\n').at(-1) ?? '');
  } catch {
    return undefined;
  }
}
