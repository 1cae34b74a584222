/**
 * The commands behind package.json: each installs the locked packages and then runs. Plain Node, because it
 * runs before any package is installed.
 */

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { missingPrograms, notRun, withoutTestsOf } from './programs.mjs';
import { vitest } from './vitest.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const bin = (name) => join(ROOT, 'node_modules', '.bin', name);

const commands = {
  demo: (args) => (install(), pages(), typescript('src/apps/cli/main.ts', ['demo', ...args])),
  cli: (args) => (install(), pages(), typescript('src/apps/cli/main.ts', args)),
  sim: (args) => (install(), typescript('src/apps/cli/main.ts', ['sim', ...args])),
  bench: ([name, ...args]) => {
    install();
    const file = `bench/${name}.ts`;
    if (!name || !existsSync(join(ROOT, file)))
      fail(
        `There is no bench "${name ?? ''}". Benches are the files in bench/, such as: npm run bench -- quotes`,
      );
    // Benches run compiled, as firmquote ships: a development loader adds work to every function.
    const built = run(bin('tsc'), ['-p', 'tsconfig.bench.json']);
    return built.then((status) =>
      status === 0
        ? run(process.execPath, ['--enable-source-maps', `dist/bench/bench/${name}.js`, ...args])
        : status,
    );
  },
  docs: () => documents(),
  fuzz: (args) => (install(), typescript('test/fuzz/main.ts', args)),
  faults: (args) => faults(args),
  'lp-day': (args) => lpDay(args),
  // The tests that `npm test` leaves out because they take long.
  long: () => suite('vitest.config.ts', { FIRMQUOTE_TESTS: 'long' }),
  alerts: () => suite('vitest.alerts.config.ts'),
  rehearse: () => suite('vitest.rehearsal.config.ts'),
  walkthrough: () => suite('vitest.walkthrough.config.ts'),
  package: () => suite('vitest.package.config.ts'),
  hostile: (args) =>
    args.length > 0
      ? (install(), run(bin('vitest'), ['run', '--config', 'vitest.hostile.config.ts', ...args]))
      : suite('vitest.hostile.config.ts'),
  // Runs the flows on a venue of two processes that share a database.
  replicas: (args) => (
    install(),
    run(bin('vitest'), ['run', ...(args.length > 0 ? args : ['test/flows', 'test/api-shapes'])], undefined, {
      FIRMQUOTE_TEST_REPLICAS: '2',
      ...withoutTestsOf(missingPrograms()),
    })
  ),
  nightly: () => (
    install(),
    run(process.execPath, ['scripts/contracts.mjs', 'test'], undefined, { FOUNDRY_PROFILE: 'nightly' })
  ),
  mutants: (args) => (install(), run(process.execPath, ['contracts/mutate.mjs', ...args])),
  kill: (args) => (install(), typescript('test/kill/main.ts', args)),
  soak: (args) => {
    install();
    if (missingPrograms().some(({ name }) => name === 'redis-server')) fail('The soak runs on redis-server.');
    return args.includes('--hostile')
      ? typescript(
          'test/soak/hostile/soak.ts',
          args.filter((each) => each !== '--hostile'),
        )
      : typescript('test/soak/soak.ts', args);
  },
  'soak:ledger': (args) => (install(), typescript('test/soak/main.ts', args)),
  build: () => (install(), pages(), run(bin('tsc'), ['-p', 'tsconfig.build.json'])),
  // `npm pack` by itself builds nothing: .npmrc lets no script run with it.
  pack: async (args) => (await commands.build()) || run('npm', ['pack', ...args]),
  test: (args) => test(args),
  'lp-replicas': async (args) => {
    // Runs the LP's flows with two replicas of each LP, but for those about a single process.
    process.env.FIRMQUOTE_TEST_LP_REPLICAS ??= '2';
    if (args.length > 0) return test(args);
    const flows = await test(
      ['books', 'drift', 'levels', 'plugin', 'quotes', 'refusals', 'risk', 'settles', 'takers'].map(
        (name) => `test/flows/lp-${name}.test.ts`,
      ),
    );
    return (
      (await run(bin('vitest'), [
        'run',
        '--config',
        'vitest.faults.config.ts',
        'test/faults/reorgs.test.ts',
        'test/faults/lp-failover.test.ts',
      ])) || flows
    );
  },
  ci: () => ci(),
};

const [command, ...args] = process.argv.slice(2);
if (!Object.hasOwn(commands, command ?? ''))
  fail(`Unknown command "${command}". One of: ${Object.keys(commands).join(', ')}.`);
process.exitCode = await commands[command](args);

/** Records the examples from a real venue, then writes the documents and pictures that show them. */
async function documents() {
  install();
  const renew = (...words) => run(bin('vitest'), ['run', ...words], undefined, { RENEW_DOCS: 'yes' });
  const text = 'test/flows/documents.test.ts';
  return (
    (await renew(text, '--update')) ||
    (await run(bin('vitest'), ['run', text, '--update'])) ||
    renew('test/flows/docs-page.test.ts')
  );
}

/** The console that a process serves. */
function pages() {
  const built = spawnSync(process.execPath, ['scripts/pages.mjs'], { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (built.status !== 0) fail('The console could not be built. The message of vite is above.');
}

/** Installs the locked packages unless exactly these are installed. No package's install script runs. */
function install() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    fail(`firmquote needs Node >= 20.19; this is ${process.versions.node}.`);
  const lock = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .update(`${process.platform}-${process.arch}`)
    .digest('hex');
  const stamp = join(ROOT, 'node_modules', '.firmquote-lock');
  const installed = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === lock;
  if (installed()) return;
  alone(() => {
    if (installed()) return;
    console.error('Installing dependencies (npm ci --ignore-scripts) …');
    const done = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: ROOT,
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
    });
    if (done.status !== 0) fail('npm ci failed, so nothing can run. Its own message is above.');
    writeFileSync(stamp, lock);
  });
}

/** Runs one install of this folder at a time: two would each remove the files that the other one writes. */
function alone(work) {
  const file = join(
    tmpdir(),
    `firmquote-install-${createHash('sha256').update(ROOT).digest('hex').slice(0, 16)}`,
  );
  for (let waited = false; ; waited = true) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (!waited) console.error('Another command is installing the dependencies: waiting for it …');
      if (!isAlive(file)) rmSync(file, { force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
    }
  }
  process.once('exit', () => rmSync(file, { force: true }));
  try {
    work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** Whether the process that wrote its id into this file runs. A file without an id is being written. */
function isAlive(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return pid === 0 || process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * With arguments: vitest on the named files. Without: every check, each step even if one before it failed.
 * Tests that take long are left to `npm run test:long`. Tests that need a missing program are left out and
 * named at the end; with CI=true a missing program is a failure.
 */
async function test(patterns) {
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

function reportMissing(missing, count, failures) {
  if (missing.length === 0) return;
  console.log(`\n${notRun(missing).join('\n')}`);
  if (process.env.CI !== 'true') return;
  count.failed += missing.length;
  failures.push(...missing.map(({ name }) => `${name} is missing, which CI=true does not allow`));
}

/** Runs all faults with one seed; passes other arguments to `test/faults/main.ts`. */
async function faults(args) {
  const [option, given] = args;
  if (args.length > 0 && !(option === '--seed' && args.length === 2)) {
    install();
    return typescript('test/faults/main.ts', args);
  }
  const seed = given ?? String(Math.floor(Math.random() * 1e9));
  console.log(`faults: seed ${seed} (again: npm run test:faults -- --seed ${seed})`);
  // Each name has the seed beside it, so that the end of a long run is enough to run the fault again.
  return suite('vitest.faults.config.ts', { FIRMQUOTE_SEED: seed }, ` | seed ${seed}`);
}

/** Runs the LP's day with one seed: `--seed S` runs a day again. */
async function lpDay([option, given, ...rest]) {
  if (option !== undefined && (option !== '--seed' || !/^\d+$/.test(given ?? '') || rest.length > 0))
    fail('Usage: npm run lp-day -- --seed S');
  const seed = given ?? String(Math.floor(Math.random() * 1e9));
  console.log(`lp-day: seed ${seed} (again: npm run lp-day -- --seed ${seed})`);
  return suite('vitest.lp-day.config.ts', { FIRMQUOTE_SEED: seed }, ` | seed ${seed}`);
}

/** Runs the tests of one configuration; `note` follows the name of each failure. */
async function suite(config, env = {}, note = '') {
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

/**
 * What `.ci/run` runs: npm test, the longer suites and the demo's fixed list, as a user would type them.
 */
async function ci() {
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

function captured(program, words, print = (chunk) => process.stdout.write(chunk)) {
  print(Buffer.from(`\n$ ${program} ${words.join(' ')}\n`));
  const child = spawn(program, words, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    print(chunk);
    output += chunk;
  });
  return new Promise((done) => child.on('close', (status) => done({ status, output })));
}

function typescript(file, words) {
  // An absolute path to the loader lets the command be called from any folder.
  const loader = pathToFileURL(join(ROOT, 'node_modules/tsx/dist/loader.mjs')).href;
  return run(process.execPath, ['--import', loader, file, ...words]);
}

/**
 * Runs a program to its end, passes signals on, and returns its exit status. With `onLine`, that function
 * gets every line of its output.
 */
function run(program, words, onLine, env = {}) {
  const child = spawn(program, words, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: onLine ? ['inherit', 'pipe', 'pipe'] : 'inherit',
  });
  if (onLine)
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine);
  const passOn = (signal) => child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, passOn);
  return new Promise((done) => {
    child.on('error', (error) => {
      console.error(`${program} did not start: ${error.message}`);
      done(1);
    });
    child.on('close', (status, signal) => {
      for (const each of signals) process.off(each, passOn);
      done(status ?? (signal === 'SIGINT' ? 130 : 1));
    });
  });
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
