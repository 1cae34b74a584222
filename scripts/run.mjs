/**
 * The commands behind package.json: set up what is missing, then run. Plain Node, because it runs before
 * anything is installed.
 */

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { vitest } from './vitest.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const bin = (name) => join(ROOT, 'node_modules', '.bin', name);
/**
 * What some tests need and npm does not carry: programs, and the library that signs fastest; with the Debian
 * package of each.
 */
const LIBRARY = {
  name: 'libsecp256k1',
  package: '^libsecp256k1-[1-9].*',
  known: 'libsecp256k1-1 (or -2, as Debian numbers it)',
  there: () => onLibraryPath(/libsecp256k1\.so\.[1-9]/),
};
const SERVICES = [
  ...Object.entries({ 'redis-server': 'redis-server', promtool: 'prometheus', chromium: 'chromium' }).map(
    ([name, deb]) => ({ name, package: deb, there: () => onPath(name) }),
  ),
  LIBRARY,
];
/** As in src/apps/lp/node-options.ts, which says why. */
const LP_NODE_OPTIONS = ['--max-semi-space-size=2', '--v8-pool-size=1'];
/** Run what an LP runs in their own process, so as an LP is run. */
const LP_BENCHES = new Set(['pricing', 'ledger']);

const commands = {
  demo: (args) => (install(), typescript('src/apps/cli/main.ts', ['demo', ...args])),
  cli: (args) => (
    install(),
    typescript('src/apps/cli/main.ts', args, args[0] === 'lp' ? LP_NODE_OPTIONS : [])
  ),
  sim: (args) => (install(), typescript('src/apps/cli/main.ts', ['sim', ...args])),
  bench: ([name, ...args]) => {
    install();
    const file = `bench/${name}.ts`;
    if (!name || !existsSync(join(ROOT, file)))
      fail(
        `There is no bench "${name ?? ''}". Benches are the files in bench/, such as: npm run bench -- quotes`,
      );
    fastestLibrary();
    // What is measured is what ships: compiled, without what a development loader adds to every function.
    const built = run(bin('tsc'), ['-p', 'tsconfig.bench.json']);
    return built.then((status) =>
      status === 0
        ? run(process.execPath, [
            '--enable-source-maps',
            ...(LP_BENCHES.has(name) ? LP_NODE_OPTIONS : []),
            `dist/bench/bench/${name}.js`,
            ...args,
          ])
        : status,
    );
  },
  docs: () => documents(),
  fuzz: (args) => (install(), typescript('test/fuzz/main.ts', args)),
  faults: (args) => faults(args),
  // The flows that a venue of one process passes, on a venue of two that share a database.
  replicas: (args) => (
    install(),
    services(),
    run(bin('vitest'), ['run', ...(args.length > 0 ? args : ['test/flows', 'test/api-shapes'])], undefined, {
      FIRMQUOTE_TEST_REPLICAS: '2',
    })
  ),
  kill: (args) => (install(), typescript('test/kill/main.ts', args)),
  soak: (args) => (install(), services(), typescript('test/soak/soak.ts', args)),
  'soak:ledger': (args) => (install(), typescript('test/soak/main.ts', args)),
  build: () => (install(), run(bin('tsc'), ['-p', 'tsconfig.build.json'])),
  test: (args) => test(args),
  'lp-replicas': async (args) => {
    // The LP's flows with two replicas behind each; docs/lp/replicas.md says which stories are of one
    // process.
    process.env.FIRMQUOTE_TEST_LP_REPLICAS ??= '2';
    if (args.length > 0) return test(args);
    const flows = await test(
      [
        'books',
        'drift',
        'failover',
        'levels',
        'plugin',
        'quotes',
        'refusals',
        'risk',
        'settles',
        'takers',
      ].map((name) => `test/flows/lp-${name}.test.ts`),
    );
    return (
      (await run(bin('vitest'), [
        'run',
        '--config',
        'vitest.faults.config.ts',
        'test/faults/reorgs.test.ts',
      ])) || flows
    );
  },
  ci: () => ci(),
};

const [command, ...args] = process.argv.slice(2);
if (!Object.hasOwn(commands, command ?? ''))
  fail(`Unknown command "${command}". One of: ${Object.keys(commands).join(', ')}.`);
process.exitCode = await commands[command](args);

/** Records the examples of the documents anew from a real venue, then writes the documents that show them. */
async function documents() {
  install();
  const recorded = await run(bin('vitest'), ['run', 'test/flows/documents.test.ts', '--update'], undefined, {
    RENEW_DOCS: 'yes',
  });
  return recorded === 0 ? run(bin('vitest'), ['run', 'test/flows/documents.test.ts', '--update']) : recorded;
}

/**
 * Installs the locked dependencies unless exactly these are installed already. No install script of any
 * package runs.
 */
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

/** One install at a time in this folder: two at once would each remove what the other has just put there. */
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

/**
 * Does the process that wrote its number into this file still live? A file without a number is just being
 * written.
 */
function isAlive(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return pid === 0 || process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Installs what tests need where it may (root on Debian); elsewhere names it in one line. In CI its absence
 * is a failure.
 */
function services() {
  const missing = SERVICES.filter(({ there }) => !there());
  if (missing.length === 0) return;
  installPackages(missing, 'the tests');
  const still = missing.filter(({ there }) => !there());
  if (still.length > 0)
    fail(
      `Tests need ${still.map(({ name }) => name).join(' and ')}: install the Debian package${still.length > 1 ? 's' : ''} ${still.map((one) => one.known ?? one.package).join(' ')} and run again.`,
    );
}

/** A bench runs without it, with the library that npm carries, and prints which it was. */
function fastestLibrary() {
  if (!LIBRARY.there()) installPackages([LIBRARY], 'the bench');
}

function installPackages(missing, what) {
  if (process.getuid?.() !== 0 || !onPath('apt-get')) return;
  console.error(`Installing ${missing.map(({ name }) => name).join(', ')} for ${what} (apt-get) …`);
  const apt = (...words) =>
    spawnSync('apt-get', words, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    });
  apt('-qq', 'update');
  apt('-qq', 'install', '-y', '--no-install-recommends', ...missing.map((one) => one.package));
}

/** As the loader sees it; macOS has no such list, and Homebrew's place is known. */
function onLibraryPath(name) {
  if (process.platform === 'darwin')
    return ['/opt/homebrew', '/usr/local'].some((prefix) => existsSync(`${prefix}/lib/libsecp256k1.dylib`));
  const list = ['ldconfig', '/sbin/ldconfig']
    .map((program) => spawnSync(program, ['-p'], { encoding: 'utf8' }).stdout)
    .find(Boolean);
  return name.test(list ?? '');
}

function onPath(program) {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));
}

/**
 * With arguments: only vitest, on those files. Without: everything that must be true, each step even if one
 * before it failed.
 */
async function test(patterns) {
  install();
  services();
  if (patterns.length > 0) return run(bin('vitest'), ['run', ...patterns]);
  const folder = mkdtempSync(join(tmpdir(), 'firmquote-test-'));
  const steps = [
    ['types', () => run(bin('tsc'), ['--noEmit'])],
    ['format', () => run(bin('oxfmt'), ['--check', 'src', 'test', 'bench', 'scripts', 'docs'])],
    ['lint', () => run(bin('oxlint'), ['--deny-warnings'])],
    ['no dead files, no unused or unlisted packages', () => run(bin('knip'), ['--no-progress'])],
    [
      'contracts: generated ABI and bytecode are fresh',
      () => run(process.execPath, ['scripts/contracts.mjs', 'check']),
    ],
    [
      'contracts: forge tests, fuzz and invariants',
      () => run(process.execPath, ['scripts/contracts.mjs', 'test'], countForge),
    ],
    [
      'contracts: gas snapshot',
      () => run(process.execPath, ['scripts/contracts.mjs', 'snapshot', '--check']),
    ],
    ['vitest', runVitest],
  ];
  const count = { passed: 0, failed: 0 };
  let forge;
  function countForge(line) {
    const match = /(\d+) tests? passed, (\d+) failed/.exec(line);
    if (match && /test suites? in/.test(line)) forge = { passed: Number(match[1]), failed: Number(match[2]) };
  }
  let verdict;
  async function runVitest() {
    verdict = await vitest((words) => run(bin('vitest'), words), folder, ROOT);
    return verdict.failed === 0 ? 0 : 1;
  }
  const failures = [];
  for (const [name, step] of steps) {
    const startedMs = Date.now();
    console.log(`\n== ${name}`);
    const status = await step();
    count[status === 0 ? 'passed' : 'failed'] += 1;
    if (status !== 0) failures.push(name);
    console.log(
      `== ${name}: ${status === 0 ? 'ok' : 'FAILED'} (${((Date.now() - startedMs) / 1000).toFixed(1)} s)`,
    );
  }
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
  if (failures.length > 0) console.log(`\nFAILED ${failures.join('; ')}`);
  console.log(`\n${count.passed} passed, ${count.failed} failed`);
  return count.failed === 0 ? 0 : 1;
}

/** All faults with one seed; with other arguments, what `test/faults/main.ts` makes of them. */
async function faults(args) {
  install();
  services();
  const [option, given] = args;
  if (args.length > 0 && !(option === '--seed' && args.length === 2))
    return typescript('test/faults/main.ts', args);
  const seed = given ?? String(Math.floor(Math.random() * 1e9));
  console.log(`faults: seed ${seed} (again: npm run test:faults -- --seed ${seed})`);
  const folder = mkdtempSync(join(tmpdir(), 'firmquote-faults-'));
  const { passed, failed, lines } = await vitest(
    ([verb, ...words]) =>
      run(bin('vitest'), [verb, '--config', 'vitest.faults.config.ts', ...words], undefined, {
        FIRMQUOTE_SEED: seed,
      }),
    folder,
    ROOT,
  );
  rmSync(folder, { recursive: true });
  // The seed stands beside each name: whoever reads only the end of a long run can still run it again.
  if (lines.length > 0) console.log(`\n${lines.map((line) => `${line} | seed ${seed}`).join('\n')}`);
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/** What `.ci/run` runs: the README's two commands, as a user would type them. */
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

  const faulty = await captured('npm', ['run', 'test:faults']);
  const ending = /^(\d+) passed, (\d+) failed$/m.exec(faulty.output);
  count.passed += Number(ending?.[1] ?? 0);
  count.failed += Number(ending?.[2] ?? 1);
  if (faulty.status !== 0 && Number(ending?.[2]) === 0) count.failed += 1;

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
  // What is wrong stands at the end, where whoever reads only the end finds it.
  const named = `${tests.output}\n${faulty.output}`
    .split('\n')
    .filter((line) => /^(FAILED|UNSTEADY) /.test(line));
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

function captured(program, words) {
  console.log(`\n$ ${program} ${words.join(' ')}`);
  const child = spawn(program, words, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    output += chunk;
  });
  return new Promise((done) => child.on('close', (status) => done({ status, output })));
}

function typescript(file, words, nodeOptions = []) {
  // The loader by its place in this checkout, so that the command may be called from any folder.
  const loader = pathToFileURL(join(ROOT, 'node_modules/tsx/dist/loader.mjs')).href;
  return run(process.execPath, [...nodeOptions, '--import', loader, file, ...words]);
}

/** Runs to the end, passing signals on, and answers the exit status. */
function run(program, words, onLine, env = {}) {
  const child = spawn(program, words, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['inherit', onLine ? 'pipe' : 'inherit', 'inherit'],
  });
  if (onLine) {
    let rest = '';
    child.stdout.on('data', (chunk) => {
      process.stdout.write(chunk);
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(line);
    });
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((done) => {
    child.on('error', (error) => {
      console.error(`${program} did not start: ${error.message}`);
      done(1);
    });
    child.on('close', (status, signal) => done(status ?? (signal === 'SIGINT' ? 130 : 1)));
  });
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
