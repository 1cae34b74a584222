/**
 * The programs that some tests need and npm does not carry: which are missing, and which tests that leaves
 * out.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join, normalize } from 'node:path';
import { ROOT } from './processes.mjs';

/**
 * Each program with what serves as well, its package in Debian and in Homebrew, and what a test file has in
 * its text that starts it. Files of test/support import each other by './': test/support/lp.ts starts Redis
 * only for replicas, so that a test that imports it needs none.
 */
export const PROGRAMS = [
  { name: 'redis-server', debian: 'redis-server', brew: 'redis', starts: /\/support\/redis\.ts'/ },
  { name: 'promtool', debian: 'prometheus', brew: 'prometheus', starts: /\('promtool'/ },
  { name: 'prometheus', debian: 'prometheus', brew: 'prometheus', starts: /\(\s*'prometheus',/ },
  { name: 'amtool', debian: 'prometheus-alertmanager', brew: 'alertmanager', starts: /\('amtool'/ },
  {
    name: 'prometheus-alertmanager',
    debian: 'prometheus-alertmanager',
    brew: 'alertmanager',
    starts: /\(\s*'prometheus-alertmanager',/,
  },
  { name: 'pgbouncer', debian: 'pgbouncer', brew: 'pgbouncer', starts: /\/support\/pgbouncer\.ts'/ },
  ...['nginx', 'haproxy', 'openssl'].map((name) => ({
    name,
    debian: name,
    brew: name,
    starts: /\/support\/reverse-proxy\.ts'/,
  })),
  {
    // Without windows to draw it takes a quarter less CPU.
    name: 'chromium-headless-shell',
    or: 'chromium',
    debian: 'chromium-headless-shell',
    brew: '--cask chromium',
    starts: /\/support\/browser\.ts'|from 'playwright-core'/,
  },
];

/** The test files that start a program, themselves or in a file under test/ that they import. */
export function testsOf({ starts }) {
  return ['src', 'test']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.test.ts'))
        .map((name) => normalize(join(folder, name))),
    )
    .filter((file) => reaches(file, starts, new Set()));
}

const texts = new Map();

function reaches(file, pattern, seen) {
  if (seen.has(file)) return false;
  seen.add(file);
  if (!texts.has(file))
    texts.set(file, existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : '');
  const text = texts.get(file);
  if (pattern.test(text)) return true;
  return [...text.matchAll(/from '(\.[^']+\.ts)'/g)]
    .map(([, path]) => normalize(join(file, '..', path)))
    .some((path) => path.startsWith('test') && reaches(path, pattern, seen));
}

/**
 * Installs what is missing where it may (root on Debian) and prints one line about what is missing still,
 * with one command that installs it.
 *
 * @returns {{ name: string, tests: string[] }[]} the missing programs, with the tests that start them
 */
export function missingPrograms() {
  const left = missingOf(PROGRAMS).map((program) => ({ ...program, tests: testsOf(program) }));
  if (left.length > 0)
    console.error(
      `Missing: ${left.map(({ name }) => name).join(', ')}. Their tests are left out. To install: ${commandFor(left)}`,
    );
  return left;
}

/** Installs z3, which answers `npm run prove`, where it may. Returns false where it is missing still. */
export const hasSolver = () => missingOf([{ name: 'z3', debian: 'z3' }]).length === 0;

/** Installs what is missing of some programs where it may, and returns what is missing still. */
function missingOf(programs) {
  const missing = () => programs.filter(({ name, or = name }) => !isOnPath(name) && !isOnPath(or));
  if (missing().length > 0 && process.getuid?.() === 0 && isOnPath('apt-get')) installDebian(missing());
  return missing();
}

/** Sets what the test configurations read, so that test files of missing programs are left out. */
export const withoutTestsOf = (missing) => ({
  FIRMQUOTE_TESTS_LEFT_OUT: missing.flatMap(({ tests }) => tests).join(','),
});

/** Reports at the end of a run which test files did not run, and why. */
export const notRun = (missing) =>
  missing.map(({ name, tests }) => `NOT RUN without ${name}: ${tests.join(' ')}`);

function commandFor(programs) {
  if (process.platform === 'darwin') return `brew install ${programs.map(({ brew }) => brew).join(' ')}`;
  return `sudo apt-get install -y ${programs.map(({ debian }) => debian).join(' ')}`;
}

function installDebian(programs) {
  console.error(`Installing ${programs.map(({ name }) => name).join(', ')} (apt-get) …`);
  const apt = (...words) =>
    spawnSync('apt-get', words, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    });
  apt('-qq', 'update');
  apt('-qq', 'install', '-y', '--no-install-recommends', ...programs.map(({ debian }) => debian));
}

const isOnPath = (program) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
